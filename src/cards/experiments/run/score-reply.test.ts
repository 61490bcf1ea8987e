import { describe, expect, it } from "vitest";
import {
  createCardProtocol,
  getGsm8kSlice,
  type ResultCard,
  type ResultCardStatus,
  type DatasetSample,
} from "../../index.ts";
import { scoreReply, resolveScoreRule } from "./score-reply.ts";
import { formatExperimentMethod, parseExperimentMethod } from "./experiment-method.ts";

const protocol = createCardProtocol();
const shownTitles = new Set<string>();

function createResult(content: string, status: ResultCardStatus = "completed"): ResultCard {
  return protocol.createResultCard({ from: "planner", to: "controller", result: content, status });
}

const [janet] = getGsm8kSlice() as [DatasetSample];

describe("a score", () => {
  it.each([
    ["18", false, "gsm8k/strict", true],
    ["$18 a day", false, "gsm8k/strict", true],
    ["She makes 18", false, "gsm8k/strict", false],
    ["She makes 18", false, "gsm8k/flexible", true],
    ["16-3-4=9\nAnswer: 18", true, "gsm8k/strict", true],
    ["She makes 18", true, "gsm8k/strict", false],
    ["181", false, "gsm8k/flexible", false],
  ] as const)("of %j (complete problem: %s) by %s is %s", (text, isWhole, rule, correct) => {
    expect(scoreReply(janet, createResult(text), rule, { isWhole, shown: shownTitles }).correct).toBe(
      correct,
    );
  });

  it("is wrong for a partial result, even with the right number", () => {
    const verdict = scoreReply(janet, createResult("18", "partial"), "gsm8k/strict", {
      isWhole: false,
      shown: shownTitles,
    });
    expect(verdict).toEqual({ gold: "18", correct: false, rule: "gsm8k/strict" });
  });

  it("uses a rule of the dataset", () => {
    expect([
      resolveScoreRule("gsm8k"),
      resolveScoreRule("gsm8k", "flexible"),
      resolveScoreRule("hotpotqa"),
    ]).toEqual(["gsm8k/strict", "gsm8k/flexible", "hotpotqa/em"]);
    expect(() => resolveScoreRule("hotpotqa", "strict")).toThrow(
      'hotpotqa does not support the scoring rule "strict". Use hotpotqa/em.',
    );
  });
});

describe("a method", () => {
  it.each(["a2a", "cot", "direct", "cot-sc@5", "direct-sc@100"])("%s is parsed and formatted", (name) => {
    expect(formatExperimentMethod(parseExperimentMethod(name))).toBe(name);
  });

  it.each(["", "CoT", "cot-sc", "cot-sc@1", "cot-sc@101", "a2a-sc@3", "cot-sc@05"])(
    "%j is invalid",
    (name) => {
      expect(() => parseExperimentMethod(name)).toThrow("is not a method. Use a2a, cot");
    },
  );
});
