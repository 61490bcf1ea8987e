import { expect, it } from "vitest";
import type { LogAppend } from "../engine/index.ts";
import { CommitMeter } from "./commit-meter.ts";
import { createTestLogAppend, createTestChunkEvent } from "./task-event-logs.fixture.ts";

function createMeterWithFakeClock(): {
  meter: CommitMeter;
  commit: (ms: number) => Promise<unknown>;
  wait: (ms: number) => void;
} {
  let now = 5;
  const meter = new CommitMeter(() => now);
  const wait = (ms: number): void => void (now += ms);
  return {
    meter,
    wait,
    commit: (ms) =>
      meter.measure([], async () => {
        wait(ms);
        return [];
      }),
  };
}

const appendOfTwoEvents = (taskId: string): LogAppend =>
  createTestLogAppend(taskId, 1, [createTestChunkEvent(taskId, "a"), createTestChunkEvent(taskId, "b")]);

it("computes percentiles of the commits of the last minute", async () => {
  const { meter, commit, wait } = createMeterWithFakeClock();
  expect(meter.read()).toMatchObject({ p50Ms: 0, p99Ms: 0 });
  await commit(500);
  wait(60_001);
  for (let ms = 100; ms >= 1; ms--) await commit(ms);
  expect(meter.read()).toMatchObject({ succeeded: 101, p50Ms: 50, p99Ms: 99 });
});

it("remembers the last 1,000 commits", async () => {
  const { meter, commit } = createMeterWithFakeClock();
  for (let at = 0; at < 1000; at++) await commit(9);
  for (let at = 0; at < 1000; at++) await commit(2);
  expect(meter.read()).toMatchObject({ succeeded: 2000, p50Ms: 2, p99Ms: 2 });
});

it("counts the events of accepted appends, and failed commits", async () => {
  const { meter } = createMeterWithFakeClock();
  const batch = [appendOfTwoEvents("a"), appendOfTwoEvents("b"), appendOfTwoEvents("c")];
  await meter.measure(batch, async () => [undefined, "conflict" as const, undefined]);
  const error = new Error("down");
  await expect(meter.measure(batch, () => Promise.reject(error))).rejects.toBe(error);
  expect(meter.read()).toMatchObject({ succeeded: 1, failed: 1, events: 4 });
});
