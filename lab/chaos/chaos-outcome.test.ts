import { expect, it } from "vitest";
import { findExceededBars } from "./chaos-outcome.ts";

it("reports figures above their bars, and missing figures", () => {
  const bars = { lagMs: 20, lost: 0, notMeasured: 5 };
  expect(findExceededBars({ lagMs: 20, lost: 1 }, { bars })).toEqual([
    "lost is 1, and the bar is 0",
    "notMeasured is NaN, and the bar is 5",
  ]);
});
