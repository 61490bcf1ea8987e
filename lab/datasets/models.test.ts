import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dataFolder } from "./data-folder.ts";
import {
  decodeGsm8k,
  decodeHotpotQa,
  decodeGsm8kModelAnswers,
  decodeGsm8kSocraticFile,
  type Gsm8kSample,
  type HotpotQaSample,
  mergeSocraticSteps,
  GSM8K_ANSWER_MODELS,
  scoreAnswer,
} from "../../src/cards/index.ts";
import { runRoleInFakeTaskContext } from "../../src/cards/roles/fake-task-context.fixture.ts";
import {
  countCorrectTestOutcomes,
  solveGsm8kWithRoles,
} from "../../src/cards/roles/models/solve-gsm8k-with-roles.fixture.ts";
import {
  createTaskContextFromDocuments,
  parseContextDocuments,
} from "../../src/cards/roles/context-documents.ts";
import { createPlanner } from "../../src/cards/roles/planner/index.ts";
import { createBaselineAnswerer, createSolver } from "../../src/cards/roles/solver/index.ts";
import {
  withFaults,
  createHotpotHeuristicModel,
  createOracleModel,
  createRecordedGsm8kModel,
} from "../../src/cards/roles/models/index.ts";

const readDataFile = (file: string): string => readFileSync(join(dataFolder, file), "utf8");

const readGsm8kSamples = (): Gsm8kSample[] =>
  mergeSocraticSteps(
    decodeGsm8k(readDataFile("gsm8k/test.jsonl"), "test.jsonl"),
    decodeGsm8kSocraticFile(readDataFile("gsm8k/test_socratic.jsonl"), "test_socratic.jsonl"),
  );

describe("planner and solver on GSM8K's test split", () => {
  it.each(["chained", "parallel", "plan-first"] as const)(
    "with the oracle solve 1,308 of 1,319 in mode %s and all of the first 200",
    async (mode) => {
      const samples = readGsm8kSamples();
      const model = createOracleModel(samples);
      const outcomes = await solveGsm8kWithRoles(samples, { planner: model, solver: model }, { mode });
      expect([countCorrectTestOutcomes(outcomes), countCorrectTestOutcomes(outcomes.slice(0, 200))]).toEqual([
        1_308, 200,
      ]);
      expect(outcomes.every(({ completed }) => completed)).toBe(true);
    },
  );

  it("with three turns and one call per step finish 326 and solve 323", async () => {
    const samples = readGsm8kSamples();
    const model = createOracleModel(samples, { combineSteps: false });
    const outcomes = await solveGsm8kWithRoles(samples, { planner: model, solver: model });
    expect([
      countCorrectTestOutcomes(outcomes),
      outcomes.filter(({ completed }) => completed).length,
    ]).toEqual([323, 326]);
  });

  // Only problems that the oracle solves are counted, because the others do not show the effect of faults.
  it.each([
    [0.02, true],
    [0.05, true],
    [0.1, true],
    [0.02, false],
    [0.05, false],
    [0.1, false],
  ])("with a share of %d wrong solver calls match the formula, batched: %s", async (wrong, batch) => {
    const all = readGsm8kSamples();
    const model = createOracleModel(all, { combineSteps: batch });
    const options = batch ? {} : { maxTurns: 12 };
    const sure = await solveGsm8kWithRoles(all, { planner: model, solver: model }, options);
    const samples = all.filter((_, index) => sure[index]?.correct);
    const outcomes = await solveGsm8kWithRoles(
      samples,
      { planner: model, solver: withFaults(model, { wrong }) },
      options,
    );
    const chances = samples.map(
      ({ steps }) => (1 - wrong) ** (batch ? Math.min(2, steps.length) : steps.length),
    );
    const expected = chances.reduce((sum, chance) => sum + chance, 0);
    const deviation = Math.sqrt(chances.reduce((sum, chance) => sum + chance * (1 - chance), 0));
    // A fair injector stays within these bounds with a probability of 95 %.
    expect(Math.abs(countCorrectTestOutcomes(outcomes) - expected)).toBeLessThan(1.96 * deviation);
  });

  it("with the four models of 2021 reproduce their accuracy in one step or in many", async () => {
    const samples = readGsm8kSamples();
    const records = decodeGsm8kModelAnswers(
      readDataFile("gsm8k/example_model_solutions.jsonl"),
      "example_model_solutions.jsonl",
    );
    const right: Record<string, number[]> = {};
    for (const name of GSM8K_ANSWER_MODELS) {
      const model = createRecordedGsm8kModel(records, name);
      const answerer = createBaselineAnswerer({ style: "cot" });
      const alone = await Promise.all(
        samples.map(async ({ id, question, gold }) => {
          const { reply } = await runRoleInFakeTaskContext(answerer, {
            task: question,
            dataset: "gsm8k",
            sampleId: id,
            model,
          });
          return scoreAnswer(reply.content, gold, "number");
        }),
      );
      const together = await solveGsm8kWithRoles(samples, { planner: model, solver: model });
      right[name] = [
        countCorrectTestOutcomes(alone),
        countCorrectTestOutcomes(together),
        together.filter(({ completed }) => completed).length,
      ];
    }
    expect(right).toEqual({
      "6b_finetuning": [286, 286, 1_319],
      "6b_verification": [515, 515, 1_319],
      "175b_finetuning": [458, 458, 1_319],
      "175b_verification": [742, 742, 1_319],
    });
  });
});

describe("the heuristic on 296 problems of HotpotQA", () => {
  it.each([
    ["answer", 161],
    ["paragraph", 175],
    ["nothing", 100],
  ] as const)("finds both paragraphs, the second by %s: %d", async (secondHop, both) => {
    const byId = new Map<string, HotpotQaSample>();
    for (const file of ["dev_distractor_first100.jsonl", "dev_distractor_sample200.jsonl"])
      for (const sample of decodeHotpotQa(readDataFile(`hotpotqa/${file}`), file))
        byId.set(sample.id, sample);
    const model = createHotpotHeuristicModel({ secondHopSource: secondHop });
    const planner = createPlanner();
    const found = await Promise.all(
      [...byId.values()].map(async ({ question, paragraphs, supportingFacts }) => {
        const { reply, run } = await runRoleInFakeTaskContext(planner, {
          task: question,
          dataset: "hotpotqa",
          context: createTaskContextFromDocuments(paragraphs),
          model,
          delegates: { solver: { role: createSolver(), model } },
        });
        expect(reply.metadata["status"]).toBe("completed");
        const shown = run
          .listTasksTo("solver")
          .map(({ metadata }) => parseContextDocuments(metadata.context));
        expect(shown.map(({ length }) => length)).toEqual([1, 1]);
        const titles = shown.flat().map(({ title }) => title);
        return supportingFacts.every(({ title }) => titles.includes(title));
      }),
    );
    expect([found.length, found.filter(Boolean).length]).toEqual([296, both]);
  });
});
