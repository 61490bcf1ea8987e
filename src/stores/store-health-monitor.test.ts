import { expect, it } from "vitest";
import { FakeClock } from "../engine/engine.fixture.ts";
import { StoreHealthMonitor } from "./store-health-monitor.ts";

const ERROR = new Error("no space left");

async function advanceInSteps(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) {
    clock.advance(10);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

it("StoreHealthMonitor changes its state about once per second while every recovery is followed by a failure", async () => {
  const clock = new FakeClock();
  const changes: string[] = [];
  const monitor = new StoreHealthMonitor(
    "test",
    () => Promise.resolve(),
    (ms, callback) => clock.schedule(ms, callback),
  );
  monitor.onChange(({ state }) => {
    changes.push(state);
    if (state === "healthy") queueMicrotask(() => monitor.reportFailure("full", ERROR));
  });
  monitor.reportFailure("full", ERROR);
  await advanceInSteps(clock, 10_000);
  expect(changes.filter((state) => state === "full").length).toBeLessThan(18);
  expect(changes.filter((state) => state === "full").length).toBeGreaterThan(8);
});

it("StoreHealthMonitor recovers at once from the first failure after ten healthy seconds", async () => {
  const clock = new FakeClock();
  let failures = 8;
  const monitor = new StoreHealthMonitor(
    "test",
    () => (failures-- > 0 ? Promise.reject(ERROR) : Promise.resolve()),
    (ms, callback) => clock.schedule(ms, callback),
  );
  monitor.reportFailure("failing", ERROR);
  await advanceInSteps(clock, 10_000);
  expect(monitor.state).toBe("healthy");
  await advanceInSteps(clock, 10_000);
  monitor.reportFailure("failing", ERROR);
  await advanceInSteps(clock, 20);
  expect(monitor.state).toBe("healthy");
});
