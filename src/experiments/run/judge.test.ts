import { describe, expect, it } from "vitest";
import {
  createCardProtocol,
  gsm8kSlice,
  type ResultCard,
  type ResultStatus,
  type Sample,
} from "../../cards/index.ts";
import { judge, ruleFor } from "./judge.ts";
import { nameOfMethod, parseMethod } from "./method.ts";

const protocol = createCardProtocol();
const shown = new Set<string>();

function result(content: string, status: ResultStatus = "completed"): ResultCard {
  return protocol.createResultCard({ from: "planner", to: "controller", result: content, status });
}

const [janet] = gsm8kSlice() as [Sample];

describe("a verdict", () => {
  it.each([
    ["18", false, "gsm8k/strict", true],
    ["$18 a day", false, "gsm8k/strict", true],
    ["She makes 18", false, "gsm8k/strict", false],
    ["She makes 18", false, "gsm8k/flexible", true],
    ["16-3-4=9\nAnswer: 18", true, "gsm8k/strict", true],
    ["She makes 18", true, "gsm8k/strict", false],
    ["181", false, "gsm8k/flexible", false],
  ] as const)("of %j (whole: %s) by %s is %s", (text, isWhole, rule, correct) => {
    expect(judge(janet, result(text), rule, { isWhole, shown }).correct).toBe(correct);
  });

  it("is wrong for what a limit left over, even when the number is there", () => {
    const verdict = judge(janet, result("18", "partial"), "gsm8k/strict", { isWhole: false, shown });
    expect(verdict).toEqual({ gold: "18", correct: false, rule: "gsm8k/strict" });
  });

  it("is by a rule that the dataset has", () => {
    expect([ruleFor("gsm8k"), ruleFor("gsm8k", "flexible"), ruleFor("hotpotqa")]).toEqual([
      "gsm8k/strict",
      "gsm8k/flexible",
      "hotpotqa/em",
    ]);
    expect(() => ruleFor("hotpotqa", "strict")).toThrow(
      'hotpotqa is not scored by "strict"; there is hotpotqa/em.',
    );
  });
});

describe("a method", () => {
  it.each(["a2a", "cot", "direct", "cot-sc@5", "direct-sc@100"])("%s is read and written", (name) => {
    expect(nameOfMethod(parseMethod(name))).toBe(name);
  });

  it.each(["", "CoT", "cot-sc", "cot-sc@1", "cot-sc@101", "a2a-sc@3", "cot-sc@05"])("%j is none", (name) => {
    expect(() => parseMethod(name)).toThrow("is no method; there are a2a, cot");
  });
});
