import { expect, it } from "vitest";
import { computeMedianInterval, computeMedianRatio } from "./interval.ts";

it("returns the range of seven values, which contains the median with 98.4 %", () => {
  const { median, low, high, confidence } = computeMedianInterval([3, 1, 7, 2, 6, 5, 4]);
  expect([median, low, high]).toEqual([4, 1, 7]);
  expect(confidence).toBeCloseTo(1 - 2 / 2 ** 7, 10);
});

it("leaves out extreme values when enough values remain", () => {
  const { low, high, confidence } = computeMedianInterval([1, 2, 3, 4, 5, 6, 7, 8, 900]);
  expect([low, high]).toEqual([2, 8]);
  expect(confidence).toBeCloseTo(1 - (2 * 10) / 2 ** 9, 10);
});

it("states what the range of three values reaches", () => {
  expect(computeMedianInterval([2, 1, 3])).toEqual({ median: 2, low: 1, high: 3, confidence: 0.75 });
});

it("returns the value itself without confidence for one value", () => {
  expect(computeMedianInterval([2])).toEqual({ median: 2, low: 2, high: 2, confidence: 0 });
});

it("divides the values of the same round", () => {
  expect(computeMedianRatio([2, 6, 4], [1, 2, 4])).toBe(2);
});
