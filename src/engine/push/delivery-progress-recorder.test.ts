import { expect, it } from "vitest";
import { MemoryStore } from "../../stores/index.ts";
import { FakeClock, flushEventLoopForTest } from "../engine.fixture.ts";
import { DeliveryProgressRecorder } from "./delivery-progress-recorder.ts";

it("reports each scheduled flush, even if there is nothing to save", async () => {
  const clock = new FakeClock();
  let flushes = 0;
  const countFlush = (): void => void flushes++;
  const recorder = new DeliveryProgressRecorder(new MemoryStore().pushStore, clock, countFlush, () => {});
  for (const wanted of [1, 2]) {
    recorder.scheduleFlush();
    recorder.scheduleFlush();
    clock.advance(499);
    await flushEventLoopForTest();
    expect(flushes).toBe(wanted - 1);
    clock.advance(1);
    await flushEventLoopForTest();
    expect(flushes).toBe(wanted);
  }
});
