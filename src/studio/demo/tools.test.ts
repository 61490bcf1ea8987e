import { describe, expect, it } from "vitest";
import { evaluateExpression } from "./calculator.ts";
import { convertUnits } from "./units.ts";

describe("the calculator", () => {
  it.each([
    ["2 + 3 * 4", 14],
    ["(2 + 3) * 4", 20],
    ["2^3^2", 512],
    ["-2^2", -4],
    ["2^-1", 0.5],
    ["10 - 4 - 3", 3],
    ["7 % 4", 3],
    ["0.1 + 0.2", 0.3],
    ["sqrt(16) + abs(-2)", 6],
    ["6 × 7 ÷ 2", 21],
    ["1e3 / 4", 250],
    ["cos(0) * round(pi)", 3],
  ])("%s = %d", (expression, value) => {
    expect(evaluateExpression(expression)).toBe(value);
  });

  it.each([
    ["", "ends too early"],
    ["2 +", "ends too early"],
    ["(2", "ends too early"],
    ["2 3", "unexpected “3”"],
    ["1 / 0", "Division by zero"],
    ["ln(0)", "no finite value"],
    ["process.exit(1)", "unexpected “process”"],
    ["constructor", "unexpected “constructor”"],
  ])("rejects %j", (expression, message) => {
    expect(() => evaluateExpression(expression)).toThrow(message);
  });
});

describe("conversion", () => {
  it.each([
    [10, "km", "miles", 6.213712],
    [1, "mile", "feet", 5280],
    [100, "C", "F", 212],
    [0, "kelvin", "celsius", -273.15],
    [2, "hours", "minutes", 120],
    [1, "GiB", "MiB", 1024],
    [100, "km/h", "mph", 62.13712],
    [3, "pounds", "g", 1360.777],
  ])("%d %s in %s is %d", (value, from, to, result) => {
    expect(convertUnits(value, from, to)).toBe(result);
  });

  it("rejects unknown and incompatible units", () => {
    expect(() => convertUnits(1, "km", "kg")).toThrow("km cannot be converted to kg");
    expect(() => convertUnits(1, "parsec", "km")).toThrow("“parsec” is not a known unit");
  });
});
