import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dataFolder } from "./data-folder.ts";
import { getLastOraclePlanStepAnswer, createOraclePlan } from "../../src/cards/oracle/index.ts";
import { ParagraphRanker } from "../../src/cards/retrieval/index.ts";
import { scoreAnswer } from "../../src/cards/scoring/index.ts";
import {
  decodeGsm8k,
  decodeHotpotQa,
  decodeGsm8kModelAnswers,
  decodeGsm8kSocraticFile,
  getGsm8kSlice,
  mergeSocraticSteps,
  GSM8K_ANSWER_MODELS,
  type Gsm8kSample,
  type HotpotQaSample,
} from "../../src/cards/datasets/index.ts";

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
    const recorded = decodeGsm8kModelAnswers(
      readDatasetFile("gsm8k/example_model_solutions.jsonl"),
      "example_model_solutions.jsonl",
    );
    const right = Object.fromEntries(GSM8K_ANSWER_MODELS.map((model) => [model, 0]));
    const judged = recorded.flatMap(({ id, answers }, index) =>
      GSM8K_ANSWER_MODELS.map((model) => {
        const { correct } = scoreAnswer(answers[model].text, golds[index] ?? "", "number");
        if (correct) right[model] = (right[model] ?? 0) + 1;
        return { id, model, agrees: correct === answers[model].correct };
      }),
    );
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

describe("296 problems of HotpotQA", () => {
  it("the ranker finds both paragraphs for 33.8 % by the question alone and for 59.1 % with a second hop", () => {
    const byId = new Map<string, HotpotQaSample>();
    for (const file of ["dev_distractor_first100.jsonl", "dev_distractor_sample200.jsonl"])
      for (const sample of decodeHotpotQa(readDatasetFile(`hotpotqa/${file}`), file))
        byId.set(sample.id, sample);
    const found = [...byId.values()].map(({ question, paragraphs, supportingFacts: supporting }) => {
      const router = new ParagraphRanker(paragraphs);
      const byQuestion = router.rankByQuestion(question);
      const [first, second] = byQuestion;
      if (!first || !second) throw new Error("fewer than two paragraphs");
      const next = router.rankSecondHop(question, first);
      const has = (titles: (string | undefined)[]): boolean =>
        supporting.every(({ title }) => titles.includes(title));
      return {
        first: supporting.some(({ title }) => title === first.title),
        alone: has([first.title, second.title]),
        aloneFour: has(byQuestion.slice(0, 4).map(({ title }) => title)),
        hop: has([first.title, next[0]?.title]),
        four: has([first, ...next.slice(0, 3)].map(({ title }) => title)),
      };
    });
    const count = (what: keyof (typeof found)[number]): number =>
      found.filter((sample) => sample[what]).length;
    expect(found).toHaveLength(296);
    expect([count("first"), count("alone"), count("hop"), count("four")]).toEqual([255, 100, 175, 229]);
    expect(count("aloneFour")).toBe(184);
  });
});
