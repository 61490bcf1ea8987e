import { expect, it } from "vitest";
import { resolveRetryPolicy } from "./retry-policy.ts";

it("the retry policy has the documented defaults, and keeps given values", () => {
  const defaults = { initialDelayMs: 1000, maxDelayMs: 600_000, giveUpAfterMs: 86_400_000 };
  expect(resolveRetryPolicy()).toEqual(defaults);
  const given = { initialDelayMs: 1, maxDelayMs: 2, giveUpAfterMs: 3 };
  expect(resolveRetryPolicy(given)).toEqual(given);
});
