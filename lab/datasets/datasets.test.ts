import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dataFolder } from "./data-folder.ts";
import { getLastOraclePlanStepAnswer, createOraclePlan } from "../../src/cards/roles/models/oracle-model.ts";
import { scoreAnswer } from "../../src/cards/scoring/index.ts";
import {
  decodeGsm8k,
  decodeGsm8kSocraticFile,
  getGsm8kSlice,
  mergeSocraticSteps,
  type Gsm8kSample,
} from "../../src/cards/datasets/index.ts";

/** Models whose answers OpenAI published with GSM8K in 2021. */
const ANSWER_MODELS = ["6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"] as const;
type PublishedAnswers = Record<(typeof ANSWER_MODELS)[number], { solution: string; is_correct: boolean }>;

const readDatasetFile = (file: string): string => readFileSync(join(dataFolder, file), "utf8");

describe("the entire GSM8K test split", () => {
  const problems = (): Gsm8kSample[] =>
    mergeSocraticSteps(
      decodeGsm8k(readDatasetFile("gsm8k/test.jsonl"), "test.jsonl"),
      decodeGsm8kSocraticFile(readDatasetFile("gsm8k/test_socratic.jsonl"), "test_socratic.jsonl"),
    );

  it("has 1,319 problems with 4,821 steps, of which the first 20 are bundled", () => {
    const all = problems();
    expect(all).toHaveLength(1_319);
    expect(all.flatMap(({ steps }) => steps)).toHaveLength(4_821);
    expect(getGsm8kSlice()).toEqual(all.slice(0, 20));
  });

  it("the scorer judges all 5,276 recorded answers as their authors did", () => {
    const golds = problems().map(({ gold }) => gold);
    const lines = readDatasetFile("gsm8k/example_model_solutions.jsonl").trim().split("\n");
    const right = Object.fromEntries(ANSWER_MODELS.map((model) => [model, 0]));
    const judged = lines.flatMap((line, index) => {
      const answers = JSON.parse(line) as PublishedAnswers;
      return ANSWER_MODELS.map((model) => {
        const { solution, is_correct } = answers[model];
        const { correct } = scoreAnswer(solution, golds[index] ?? "", "number");
        if (correct) right[model] = (right[model] ?? 0) + 1;
        return { index, model, agrees: correct === is_correct };
      });
    });
    expect(judged).toHaveLength(5_276);
    expect(judged.filter(({ agrees }) => !agrees)).toEqual([]);
    expect(right).toEqual({
      "6b_finetuning": 286,
      "6b_verification": 515,
      "175b_finetuning": 458,
      "175b_verification": 742,
    });
  });

  it("the oracle solves 1,308 of 1,319, and all of the first 200", () => {
    const solved = problems().map(
      (sample) =>
        scoreAnswer(getLastOraclePlanStepAnswer(createOraclePlan(sample)), sample.gold, "number").correct,
    );
    expect(solved.filter(Boolean)).toHaveLength(1_308);
    expect(solved.slice(0, 200).filter(Boolean)).toHaveLength(200);
  });
});
