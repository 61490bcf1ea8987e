import { describe, expect, it } from "vitest";
import { parseCardTime } from "./index.ts";

describe("the time of a card", () => {
  it.each([
    ["2025-01-15T10:30:00.820Z", Date.UTC(2025, 0, 15, 10, 30, 0, 820)],
    ["2025-01-15T10:30:00", Date.UTC(2025, 0, 15, 10, 30)],
    ["2025-01-15T10:30:00.123456", Date.UTC(2025, 0, 15, 10, 30, 0, 123)],
    ["2025-01-15 10:30:00z", Date.UTC(2025, 0, 15, 10, 30)],
    ["2025-01-15T10:30:00+09:00", Date.UTC(2025, 0, 15, 1, 30)],
    ["2024-02-29T00:00:00", Date.UTC(2024, 1, 29)],
  ])("%s is in UTC unless it has a time zone", (timestamp, ms) => {
    expect(parseCardTime({ timestamp })).toBe(ms);
  });

  it.each([
    "",
    "yesterday",
    "2025-01-15",
    "2025-02-30T10:30:00Z",
    "2025-13-01T10:30:00Z",
    "2025-01-15T25:00:00Z",
  ])("%j is invalid", (timestamp) => {
    expect(parseCardTime({ timestamp })).toBeNaN();
  });
});
