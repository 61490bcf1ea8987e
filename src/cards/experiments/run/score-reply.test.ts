import { describe, expect, it } from "vitest";
import {
  createCardProtocol,
  getGsm8kSlice,
  type Gsm8kSample,
  type ResultCard,
  type ResultCardStatus,
} from "../../index.ts";
import { resolveScorer, scoreReply } from "./score-reply.ts";
import { formatExperimentMethod, parseExperimentMethod } from "./experiment-method.ts";

const protocol = createCardProtocol();

function createResult(content: string, status: ResultCardStatus = "completed", metadata = {}): ResultCard {
  return protocol.createResultCard({ from: "planner", to: "controller", result: content, status, metadata });
}

describe("a score", () => {
  it.each([
    ["18", true, "answered"],
    ["$18 a day", true, "answered"],
    ["She makes 18", true, "unmarked"],
    ["16-3-4=9\nAnswer: 18", true, "answered"],
    ["<think>17</think>18", true, "answered"],
    ["181", false, "answered"],
    ["I cannot tell", false, "no_answer"],
    ["…", false, "placeholder"],
    ["Answer: …", false, "placeholder"],
  ])("of %j is %s, with the outcome %s", (text, correct, outcome) => {
    expect(scoreReply("18", createResult(text), "number")).toMatchObject({ correct, outcome });
    expect(scoreReply("18", createResult(text, "success"), "number")).toMatchObject({ correct, outcome });
  });

  it.each(["timeout", "turn_limit", "truncated", "token_budget"])(
    "is wrong for a partial result, even with the right number; the outcome is %s",
    (error_type) => {
      expect(scoreReply("18", createResult("18", "partial", { error_type }), "number")).toEqual({
        gold: "18",
        correct: false,
        rule: "number",
        outcome: error_type,
      });
    },
  );

  it("has the error type of an error as its outcome", () => {
    const error = protocol.createErrorCard({
      from: "planner",
      to: "controller",
      error: "The answer is 18.",
      errorType: "invalid_action",
    });
    expect(scoreReply("18", error, "number")).toMatchObject({ correct: false, outcome: "invalid_action" });
  });

  it("uses the scorer of the dataset, or another one", () => {
    const numbers = { samples: getGsm8kSlice() };
    const [janet] = numbers.samples as [Gsm8kSample];
    const words = { samples: [janet, { ...janet, gold: "Paris" }] };
    expect([resolveScorer(numbers), resolveScorer(words), resolveScorer(words, "exact")]).toEqual([
      "number",
      "f1",
      "exact",
    ]);
    expect(() => resolveScorer(words, "strict")).toThrow('"strict" is not a scorer. Use number, exact, f1');
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
