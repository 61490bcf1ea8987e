import { expect, it } from "vitest";
import { resolveEngineLimits } from "./engine-limits.ts";

it("the limits of an engine have the documented defaults", () => {
  expect(resolveEngineLimits()).toEqual({
    runs: 1000,
    unfinishedMessageBytes: 256 * 1024 * 1024,
    streams: 10_000,
    queuedTurns: 16,
    turnAttempts: 5,
    taskSize: 64 * 1024 * 1024,
    listPageBytes: 4 * 1024 * 1024,
  });
});

it("callers have no fixed limit of runs by default", () => {
  expect(resolveEngineLimits({ runs: 5 }).runsPerCaller).toBeUndefined();
  expect(resolveEngineLimits({ runs: 5, runsPerCaller: 2 })).toMatchObject({ runs: 5, runsPerCaller: 2 });
});
