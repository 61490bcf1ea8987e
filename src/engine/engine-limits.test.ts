import { expect, it } from "vitest";
import { resolveEngineLimits } from "./engine-limits.ts";

it("the limits of an engine have the documented defaults", () => {
  expect(resolveEngineLimits()).toEqual({
    runs: 1000,
    runsPerCaller: 1000,
    streams: 10_000,
    queuedTurns: 16,
    turnAttempts: 5,
    taskSize: 64 * 1024 * 1024,
    listPageBytes: 4 * 1024 * 1024,
  });
});

it("the limit of runs of a caller is the limit of all runs by default", () => {
  expect(resolveEngineLimits({ runs: 5 }).runsPerCaller).toBe(5);
  expect(resolveEngineLimits({ runs: 5, runsPerCaller: 2 })).toMatchObject({ runs: 5, runsPerCaller: 2 });
});
