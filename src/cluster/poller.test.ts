import { describe, expect, it } from "vitest";
import { FakeClock, flushEventLoopForTest } from "../engine/engine.fixture.ts";
import { Poller } from "./poller.ts";

/** Creates a poller whose polls the test ends. */
function createPollerFixture(): {
  clock: FakeClock;
  poller: Poller;
  polls: { end: () => void; fail: () => void }[];
  delay: { ms: number | undefined };
} {
  const clock = new FakeClock();
  const polls: { end: () => void; fail: () => void }[] = [];
  const delay: { ms: number | undefined } = { ms: 50 };
  const poll = (): Promise<void> =>
    new Promise((resolve, reject) => {
      polls.push({ end: resolve, fail: () => reject(new Error("down")) });
    });
  return { clock, polls, delay, poller: new Poller(clock, poll, () => delay.ms) };
}

describe("a poller", () => {
  it("polls once at a time, and once more for all requests during a poll", async () => {
    const { poller, polls } = createPollerFixture();
    for (let at = 0; at < 3; at++) poller.wake();
    expect(polls).toHaveLength(1);
    polls[0]?.end();
    await flushEventLoopForTest();
    expect(polls).toHaveLength(2);
    polls[1]?.end();
    await flushEventLoopForTest();
    expect(polls).toHaveLength(2);
  });

  it("resolves pollNow after a poll that has begun later", async () => {
    const { poller, polls } = createPollerFixture();
    poller.wake();
    const outcomes: string[] = [];
    const polled = poller.pollNow().finally(() => outcomes.push("polled"));
    polls[0]?.end();
    await flushEventLoopForTest();
    expect(outcomes).toEqual([]);
    polls[1]?.end();
    await polled;
    expect(outcomes).toEqual(["polled"]);
  });

  it("polls again after the delay, and rests while there is nothing to poll", async () => {
    const { clock, poller, polls, delay } = createPollerFixture();
    poller.update();
    clock.advance(49);
    expect(polls).toHaveLength(0);
    clock.advance(1);
    expect(polls).toHaveLength(1);
    delay.ms = undefined;
    polls[0]?.end();
    await flushEventLoopForTest();
    expect(clock.pendingTimerCount).toBe(0);
    delay.ms = 10;
    poller.update();
    clock.advance(10);
    expect(polls).toHaveLength(2);
  });

  it("tries again later if a poll fails, and stops with an error for its waiting callers", async () => {
    const { clock, poller, polls } = createPollerFixture();
    const first = poller.pollNow();
    polls[0]?.fail();
    await expect(first).rejects.toThrow("down");
    await flushEventLoopForTest();
    clock.advance(250);
    expect(polls).toHaveLength(2);
    const second = poller.pollNow();
    poller.stop(new Error("closing"));
    await expect(second).rejects.toThrow("closing");
    polls[1]?.end();
    await flushEventLoopForTest();
    clock.advance(1000);
    expect(polls).toHaveLength(2);
    await expect(poller.pollNow()).rejects.toThrow("closing");
  });
});
