import { expect, it } from "vitest";
import { FakeClock } from "../../engine/engine.fixture.ts";
import { startStoreGaugeReports } from "./instrument.ts";

it("reports the gauges when the store has opened, and then every 10 seconds until the server closes", () => {
  const clock = new FakeClock();
  const times: number[] = [];
  const startedAt = clock.time;
  const store = { readGauges: () => ({ store: "s" }) as never };
  const observer = { onStoreGauges: () => void times.push(clock.time - startedAt) };
  const stop = startStoreGaugeReports(store, observer, clock);
  for (let second = 0; second < 25; second++) clock.advance(1000);
  expect(times).toEqual([0, 10_000, 20_000]);
  stop();
  clock.advance(60_000);
  expect(times).toHaveLength(3);
});

it("starts no timer without a listener or gauges", () => {
  const clock = new FakeClock();
  startStoreGaugeReports({ readGauges: () => ({}) as never }, {}, clock);
  startStoreGaugeReports({}, { onStoreGauges: () => {} }, clock);
  expect(clock.pendingTimerCount).toBe(0);
});
