import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dataFolder } from "./data-folder.ts";
import {
  decodeGsm8k,
  decodeGsm8kSocraticFile,
  type Gsm8kSample,
  mergeSocraticSteps,
} from "../../src/cards/index.ts";
import {
  countCorrectTestOutcomes,
  solveGsm8kWithRoles,
} from "../../src/cards/roles/models/solve-gsm8k-with-roles.fixture.ts";
import { withFaults, createOracleModel } from "../../src/cards/roles/models/index.ts";

const readDataFile = (file: string): string => readFileSync(join(dataFolder, file), "utf8");

const readGsm8kSamples = (): Gsm8kSample[] =>
  mergeSocraticSteps(
    decodeGsm8k(readDataFile("gsm8k/test.jsonl"), "test.jsonl"),
    decodeGsm8kSocraticFile(readDataFile("gsm8k/test_socratic.jsonl"), "test_socratic.jsonl"),
  );

describe("planner and solver on GSM8K's test split", () => {
  it("with the oracle solve 1,308 of 1,319 and all of the first 200", async () => {
    const samples = readGsm8kSamples();
    const model = createOracleModel(samples);
    const outcomes = await solveGsm8kWithRoles(samples, { planner: model, solver: model });
    expect([countCorrectTestOutcomes(outcomes), countCorrectTestOutcomes(outcomes.slice(0, 200))]).toEqual([
      1_308, 200,
    ]);
    expect(outcomes.every(({ completed }) => completed)).toBe(true);
  });

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
});
