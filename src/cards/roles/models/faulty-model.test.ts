import { createSeededRandom } from "./faulty-model.ts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { getGsm8kSlice, findLastNumber } from "../../index.ts";
import { createFakeTaskContext, runRoleInFakeTaskContext } from "../fake-task-context.fixture.ts";
import type { ModelRequest } from "../role-model.ts";
import type { PlannerOptions } from "../planner.ts";
import { createBaselineAnswerer, createSolver } from "../solver.ts";
import { type Gsm8kTestSampleOutcome, solveGsm8kWithRoles } from "./solve-gsm8k-with-roles.fixture.ts";
import { type FaultOptions, withFaults, createOracleModel, createScriptedModel } from "./index.ts";
import { countRuns } from "../../../../test/support/count-runs.ts";

const samples = getGsm8kSlice();

/** Runs the oracle as planner and solver, with `faults` in one role or in both. */
function solveAll(
  faults: { planner?: FaultOptions; solver?: FaultOptions },
  options: PlannerOptions = {},
): Promise<Gsm8kTestSampleOutcome[]> {
  const inner = createOracleModel(samples);
  const planner = faults.planner ? withFaults(inner, faults.planner) : inner;
  const solver = faults.solver ? withFaults(inner, faults.solver) : inner;
  return solveGsm8kWithRoles(samples, { planner, solver }, options);
}

describe("a faulty model", () => {
  it("equals the inner model without faults and is always wrong with a share of 1", async () => {
    expect((await solveAll({ solver: {} })).every(({ correct }) => correct)).toBe(true);
    expect((await solveAll({ solver: { wrong: 1 } })).some(({ correct }) => correct)).toBe(false);
  });

  it.each([true, false])("leaves (1 − p)^n chains of n calls correct, batched: %s", async (batch) => {
    const wrong = 0.1;
    const options = batch ? {} : { maxTurns: 12 };
    let right = 0;
    let expected = 0;
    let variance = 0;
    for (let seed = 1; seed <= countRuns(15, 50); seed++) {
      for (const { sample, correct } of await solveAll({ solver: { wrong, seed } }, options)) {
        const chance = (1 - wrong) ** (batch ? Math.min(2, sample.steps.length) : sample.steps.length);
        expected += chance;
        variance += chance * (1 - chance);
        if (correct) right += 1;
      }
    }
    // Bounds that contain the result of a fair injector with a probability of 95 %.
    expect(Math.abs(right - expected)).toBeLessThan(1.96 * Math.sqrt(variance));
  });

  it("changes the value of every reply", async () => {
    await fc.assert(
      fc.asyncProperty(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), fc.nat(), async (number, seed) => {
        const right = String(Math.round(number * 100) / 100);
        const model = withFaults(createScriptedModel([`It is ${right}.`]), { wrong: 1, seed });
        const { reply } = await runRoleInFakeTaskContext(createSolver(), { task: "?", model });
        expect(Number(findLastNumber(reply.content))).not.toBeCloseTo(Number(right), 6);
      }),
    );
    const { reply } = await runRoleInFakeTaskContext(createSolver(), {
      task: "?",
      model: withFaults(createScriptedModel(["Westminster"]), { wrong: 1 }),
    });
    expect(reply.content).toBe("something else");
  });

  it("falsifies each sample of an answerer independently", async () => {
    const model = withFaults(createOracleModel(samples), { wrong: 0.5, seed: 3 });
    const { reply } = await runRoleInFakeTaskContext(createBaselineAnswerer({ style: "cot", samples: 40 }), {
      task: samples[0]?.question ?? "",
      dataset: "gsm8k",
      model,
    });
    const [most] = reply.metadata["votes"] as { answer: string; count: number }[];
    expect(most?.answer).toBe("18");
    expect(most?.count).toBeGreaterThan(10);
    expect(most?.count).toBeLessThan(30);
  });

  it("injects the same faults with the same seed in any order of calls", async () => {
    const solveWithSeed = async (seed: number): Promise<object[]> =>
      (await solveAll({ solver: { wrong: 0.3, seed } })).map(({ sample, correct, reply, subtasks }) => ({
        steps: sample.steps.length,
        correct,
        reply,
        subtasks,
      }));
    const first = await solveWithSeed(7);
    expect(await solveWithSeed(7)).toEqual(first);
    expect(await solveWithSeed(8)).not.toEqual(first);
  });

  it("can force the first call and then continue", async () => {
    const always = await solveAll({ planner: { refuseFirst: "always" } }, { maxTurns: 12 });
    expect(always.every(({ subtasks }, index) => subtasks[0] === samples[index]?.question)).toBe(true);
    expect(always.every(({ correct }) => correct)).toBe(true);
    const once = await solveAll({ planner: { refuseFirst: "once" } });
    expect(
      once.every(({ subtasks, correct }, index) => correct && subtasks[0] !== samples[index]?.question),
    ).toBe(true);
  });

  it("can trigger repairs and invalid actions", async () => {
    const all = await solveAll({ planner: { invalidJson: 1 } });
    expect(all.every(({ reply }) => "metadata" in reply)).toBe(true);
    expect(all.map(({ reply }) => reply)).toMatchObject(
      all.map(() => ({ message_type: "error", metadata: { error_type: "invalid_action" } })),
    );
    const some = await solveAll({ planner: { invalidJson: 0.2, seed: 2 } });
    expect(some.filter(({ correct }) => correct).length).toBeGreaterThan(10);
  });

  it("can reach the turn limit with a loop", async () => {
    const all = await solveAll({ planner: { loop: true } });
    expect(all.map(({ reply }) => reply)).toMatchObject(
      all.map(() => ({ metadata: { status: "partial", error_type: "turn_limit" } })),
    );
    expect(all.every(({ subtasks }) => subtasks.length === 2 && subtasks[0] === subtasks[1])).toBe(true);
  });

  it("can be unavailable", async () => {
    const all = await solveAll({ solver: { fails: 1 } });
    expect(all.map(({ reply }) => reply)).toMatchObject(all.map(() => ({ metadata: { status: "partial" } })));
  });

  it("can be slow by an injected clock", async () => {
    const slept: number[] = [];
    const sleep = (ms: number): Promise<void> => (slept.push(ms), Promise.resolve());
    await solveAll({ solver: { slow: { share: 1, ms: 50 }, sleep } });
    expect(new Set(slept)).toEqual(new Set([50]));
  });

  it("stops waiting when it is aborted", async () => {
    const role = createSolver();
    const taskContext = createFakeTaskContext(createSolver(), {
      task: "?",
      model: withFaults(createScriptedModel(["9"]), { slow: { share: 1, ms: 1e9 } }),
    });
    const work = role.performTask(taskContext);
    taskContext.stop();
    await expect(work).rejects.toMatchObject({ message_type: "control" });
  });

  it("reports simulated evidence", () => {
    expect(withFaults(createOracleModel(samples), {})).toMatchObject({
      id: "faulty(oracle)",
      evidenceKind: "simulated",
    });
  });

  it("does not change the request", async () => {
    const seen: ModelRequest[] = [];
    const model = withFaults(
      createScriptedModel((request) => (seen.push(request), "9")),
      { wrong: 0.5 },
    );
    const { run } = await runRoleInFakeTaskContext(createSolver(), { task: "?", model });
    expect(seen).toEqual(run.modelRequests);
  });
});

it("draws faults uniformly", () => {
  const random = createSeededRandom(42);
  const drawn = Array.from({ length: 100_000 }, random);
  expect(drawn.every((number) => number >= 0 && number < 1)).toBe(true);
  const counts = Array.from(
    { length: 10 },
    (_, bin) => drawn.filter((number) => Math.floor(number * 10) === bin).length,
  );
  // 4 standard deviations of a count of 10,000 are 380.
  expect(counts.filter((count) => Math.abs(count - 10_000) > 380)).toEqual([]);
});
