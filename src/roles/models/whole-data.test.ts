import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  decodeGsm8k,
  decodeHotpotQa,
  decodeRecorded,
  decodeSocratic,
  type GsmSample,
  type HotpotSample,
  joinSocratic,
  RECORDED_MODELS,
  scoreGsm8k,
} from "../../cards/index.ts";
import { runRole } from "../desk.fixture.ts";
import { documentsContext, documentsOf } from "../documents.ts";
import type { RoleModel } from "../model.ts";
import { createPlanner, type PlannerOptions } from "../planner/index.ts";
import { createAnswerer, createSolver } from "../solver/index.ts";
import { faulty, heuristicHotpot, oracle, recorded } from "./index.ts";

/** COLLOQUY_DATA names a folder with the whole datasets, as in `cards/data/whole-data.test.ts`. */
const folder = process.env["COLLOQUY_DATA"];
const read = (file: string): string => readFileSync(join(folder ?? "", file), "utf8");

const gsm8k = (): GsmSample[] =>
  joinSocratic(
    decodeGsm8k(read("gsm8k/test.jsonl"), "test.jsonl"),
    decodeSocratic(read("gsm8k/test_socratic.jsonl"), "test_socratic.jsonl"),
  );

interface Outcome {
  readonly completed: boolean;
  readonly correct: boolean;
}

async function solveAll(
  samples: readonly GsmSample[],
  models: { readonly planner: RoleModel; readonly solver: RoleModel },
  options: PlannerOptions = {},
): Promise<Outcome[]> {
  const planner = createPlanner(options);
  const solver = { role: createSolver(), model: models.solver };
  return Promise.all(
    samples.map(async ({ id, question, gold }) => {
      const { reply } = await runRole(planner, {
        task: question,
        dataset: "gsm8k",
        sampleId: id,
        model: models.planner,
        colleagues: { solver },
      });
      const completed = reply.metadata["status"] === "completed";
      return { completed, correct: completed && scoreGsm8k(reply.content, gold, "flexible").correct };
    }),
  );
}

const solved = (outcomes: readonly Outcome[]): number => outcomes.filter(({ correct }) => correct).length;

describe.skipIf(!folder)(
  "planner and solver on GSM8K's test split (skipped unless COLLOQUY_DATA names a folder)",
  () => {
    it.each(["chained", "parallel", "plan-first"] as const)(
      "with the oracle solve 1,308 of 1,319 in mode %s, and the first 200",
      async (mode) => {
        const samples = gsm8k();
        const model = oracle(samples);
        const outcomes = await solveAll(samples, { planner: model, solver: model }, { mode });
        expect([solved(outcomes), solved(outcomes.slice(0, 200))]).toEqual([1_308, 200]);
        expect(outcomes.every(({ completed }) => completed)).toBe(true);
      },
    );

    it("with three turns and a call for each step can finish 326 and solve 323", async () => {
      const samples = gsm8k();
      const model = oracle(samples, { batch: false });
      const outcomes = await solveAll(samples, { planner: model, solver: model });
      expect([solved(outcomes), outcomes.filter(({ completed }) => completed).length]).toEqual([323, 326]);
    });

    // Of the problems that the oracle solves: the rest says nothing of faults.
    it.each([
      [0.02, true],
      [0.05, true],
      [0.1, true],
      [0.02, false],
      [0.05, false],
      [0.1, false],
    ])(
      "with a solver wrong in %d of its calls are right as the formula says, batched: %s",
      async (wrong, batch) => {
        const all = gsm8k();
        const model = oracle(all, { batch });
        const options = batch ? {} : { maxTurns: 12 };
        const sure = await solveAll(all, { planner: model, solver: model }, options);
        const samples = all.filter((_, index) => sure[index]?.correct);
        const outcomes = await solveAll(
          samples,
          { planner: model, solver: faulty(model, { wrong }) },
          options,
        );
        const chances = samples.map(
          ({ steps }) => (1 - wrong) ** (batch ? Math.min(2, steps.length) : steps.length),
        );
        const expected = chances.reduce((sum, chance) => sum + chance, 0);
        const deviation = Math.sqrt(chances.reduce((sum, chance) => sum + chance * (1 - chance), 0));
        // 95 of 100 fair injectors stay within these bounds.
        expect(Math.abs(solved(outcomes) - expected)).toBeLessThan(1.96 * deviation);
      },
    );

    it("with the four models of 2021 are right as often as these were, in one step or in many", async () => {
      const samples = gsm8k();
      const records = decodeRecorded(
        read("gsm8k/example_model_solutions.jsonl"),
        "example_model_solutions.jsonl",
      );
      const right: Record<string, number[]> = {};
      for (const name of RECORDED_MODELS) {
        const model = recorded(records, name);
        const answerer = createAnswerer({ style: "cot" });
        const alone = await Promise.all(
          samples.map(async ({ id, question, gold }) => {
            const { reply } = await runRole(answerer, {
              task: question,
              dataset: "gsm8k",
              sampleId: id,
              model,
            });
            return { completed: true, correct: scoreGsm8k(reply.content, gold, "strict").correct };
          }),
        );
        const together = await solveAll(samples, { planner: model, solver: model });
        right[name] = [solved(alone), solved(together), together.filter(({ completed }) => completed).length];
      }
      expect(right).toEqual({
        "6b_finetuning": [286, 286, 1_319],
        "6b_verification": [515, 515, 1_319],
        "175b_finetuning": [458, 458, 1_319],
        "175b_verification": [742, 742, 1_319],
      });
    });
  },
);

describe.skipIf(!folder)(
  "the heuristic on 296 problems of HotpotQA (skipped unless COLLOQUY_DATA names a folder)",
  () => {
    it.each([
      ["answer", 161],
      ["paragraph", 175],
      ["nothing", 100],
    ] as const)("routes to both paragraphs, the second by the %s: %d", async (secondHop, both) => {
      const byId = new Map<string, HotpotSample>();
      for (const file of ["dev_distractor_first100.jsonl", "dev_distractor_sample200.jsonl"])
        for (const sample of decodeHotpotQa(read(`hotpotqa/${file}`), file)) byId.set(sample.id, sample);
      const model = heuristicHotpot({ secondHop });
      const planner = createPlanner();
      const found = await Promise.all(
        [...byId.values()].map(async ({ question, paragraphs, supporting }) => {
          const { reply, run } = await runRole(planner, {
            task: question,
            dataset: "hotpotqa",
            context: documentsContext(paragraphs),
            model,
            colleagues: { solver: { role: createSolver(), model } },
          });
          expect(reply.metadata["status"]).toBe("completed");
          const shown = run.tasksTo("solver").map(({ metadata }) => documentsOf(metadata.context));
          expect(shown.map(({ length }) => length)).toEqual([1, 1]);
          const titles = shown.flat().map(({ title }) => title);
          return supporting.every(({ title }) => titles.includes(title));
        }),
      );
      expect([found.length, found.filter(Boolean).length]).toEqual([296, both]);
    });
  },
);
