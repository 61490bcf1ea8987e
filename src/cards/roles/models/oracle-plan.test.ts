import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { getGsm8kSlice } from "../../datasets/index.ts";
import { scoreAnswer } from "../../scoring/index.ts";
import {
  batchPlanSteps,
  evaluateArithmetic,
  getLastOraclePlanStepAnswer,
  createOraclePlan,
  formatNumberWithoutExponent,
} from "./oracle-model.ts";

const OPERATORS = [
  { sign: "+", apply: (a: number, b: number): number => a + b },
  { sign: "-", apply: (a: number, b: number): number => a - b },
  { sign: "*", apply: (a: number, b: number): number => a * b },
  { sign: "/", apply: (a: number, b: number): number => a / b },
] as const;

describe("arithmetic", () => {
  it.each([
    ["16-3-4", 9],
    ["2+3*4", 14],
    ["(2+3)*4", 20],
    ["8/4/2", 1],
    ["-3 - -4", 1],
    ["2*-(1+1)", -4],
    [".5*1.", 0.5],
    [" 1 ", 1],
  ])("%s = %d", (expression, value) => {
    expect(evaluateArithmetic(expression)).toBe(value);
  });

  it.each([
    "",
    "2+",
    "(1",
    "1)",
    "1 2",
    "1.2.3",
    "2**3",
    "process.exit()",
    "1e9",
    "1/0",
    "0/0",
    "(".repeat(100_000),
    "1".repeat(1_001),
  ])("rejects %j", (expression) => {
    expect(() => evaluateArithmetic(expression)).toThrow(/is no arithmetic expression with a finite value/);
  });

  it("agrees with JavaScript on every expression", () => {
    interface ExpressionTree {
      readonly text: string;
      readonly value: number;
    }
    const { tree } = fc.letrec<{ tree: ExpressionTree; number: ExpressionTree; pair: ExpressionTree }>(
      (tie) => ({
        tree: fc.oneof({ depthSize: "small" }, tie("number"), tie("pair")),
        number: fc.nat(999).map((value) => ({ text: String(value), value })),
        pair: fc
          .tuple(tie("tree"), fc.constantFrom(...OPERATORS), tie("tree"))
          .map(([left, { sign, apply }, right]) => ({
            text: `(${left.text} ${sign} ${right.text})`,
            value: apply(left.value, right.value),
          })),
      }),
    );
    fc.assert(
      fc.property(tree, ({ text, value }) => {
        fc.pre(Number.isFinite(value) && text.length <= 1_000);
        expect(evaluateArithmetic(text)).toBe(value);
      }),
    );
  });

  it.each([
    [0.1 + 0.2, "0.3"],
    [-0, "0"],
    [1e21, "1000000000000000000000"],
    [1 / 3, "0.333333333333"],
    [18, "18"],
    [-2.5, "-2.5"],
  ])("formats %d as %s", (value, text) => {
    expect(formatNumberWithoutExponent(value)).toBe(text);
  });
});

describe("the oracle on GSM8K", () => {
  it("plans Janet's ducks in two steps", () => {
    const [janet] = getGsm8kSlice();
    if (!janet) throw new Error("the slice is empty");
    expect(createOraclePlan(janet)).toEqual([
      { question: "How many eggs does Janet sell?", expressions: ["16-3-4"], answer: "9" },
      { question: "How much does Janet make at the farmers' market?", expressions: ["9*2"], answer: "18" },
    ]);
  });

  it("solves the 20 bundled problems", () => {
    const unsolved = getGsm8kSlice().filter(
      (sample) =>
        !scoreAnswer(getLastOraclePlanStepAnswer(createOraclePlan(sample)), sample.gold, "number").correct,
    );
    expect(unsolved).toEqual([]);
  });

  it("calculates and does not copy human results", () => {
    const [janet] = getGsm8kSlice();
    if (!janet) throw new Error("the slice is empty");
    const steps = [
      { question: "a", text: "5 and <<2+2=5>>5" },
      { question: "b", text: "There are 7 of them." },
      { question: "c", text: "None." },
    ];
    expect(createOraclePlan({ ...janet, steps }).map(({ answer }) => answer)).toEqual(["4", "7", "None."]);
  });

  it("requires a plan", () => {
    const [janet] = getGsm8kSlice();
    if (!janet) throw new Error("the slice is empty");
    expect(() => createOraclePlan({ ...janet, steps: [] })).toThrow(
      "gsm8k_0 has no steps for the oracle. Read test_socratic.jsonl",
    );
  });

  it("divides a plan into fewer calls, with each step once and in order", () => {
    expect(batchPlanSteps([1, 2, 3, 4, 5], 2)).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    fc.assert(
      fc.property(fc.array(fc.nat()), fc.integer({ min: 1, max: 9 }), (steps, most) => {
        const calls = batchPlanSteps(steps, most);
        expect(calls.flat()).toEqual(steps);
        expect(calls.length).toBe(Math.min(most, steps.length));
        expect(calls.every((call) => call.length > 0)).toBe(true);
      }),
    );
  });
});
