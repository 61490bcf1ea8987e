import { describe, expect, it } from "vitest";
import { computeRetryDelay, resolveRetryPolicy } from "./retry-policy.ts";

it("the retry policy has the documented defaults, and keeps given values", () => {
  const defaults = { initialDelayMs: 1000, maxDelayMs: 600_000, giveUpAfterMs: 86_400_000 };
  expect(resolveRetryPolicy()).toEqual(defaults);
  const given = { initialDelayMs: 1, maxDelayMs: 2, giveUpAfterMs: 3 };
  expect(resolveRetryPolicy(given)).toEqual(given);
});

describe("the retry delay", () => {
  const policy = resolveRetryPolicy({ initialDelayMs: 1000, maxDelayMs: 60_000 });

  it("doubles up to a limit, minus a random part of up to a half [I-07]", () => {
    const longest = [1, 2, 3, 4, 5, 6, 7, 8, 1000].map((failures) => computeRetryDelay(failures, 0, policy));
    expect(longest).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(computeRetryDelay(3, 1, policy)).toBe(2000);
    expect(computeRetryDelay(3, 0.5, policy)).toBe(3000);
  });

  it("is as long as the receiver requests, within the limit [I-07]", () => {
    expect(computeRetryDelay(1, 1, policy, 30_000)).toBe(30_000);
    expect(computeRetryDelay(6, 0, policy, 5000)).toBe(32_000);
    expect(computeRetryDelay(1, 0, policy, 1e12)).toBe(60_000);
  });
});
