import { describe, expect, it } from "vitest";
import { getGsm8kSlice, type Gsm8kSample } from "../../index.ts";
import { createFakeTaskContext, runRoleInFakeTaskContext } from "../fake-task-context.fixture.ts";
import { createPlanner, type PlannerOptions } from "../planner.ts";
import { createBaselineAnswerer } from "../solver.ts";
import { createOracleModel, createScriptedModel } from "./index.ts";
import {
  countCorrectTestOutcomes,
  type Gsm8kTestSampleOutcome,
  solveGsm8kWithRoles,
} from "./solve-gsm8k-with-roles.fixture.ts";

function solveAll(
  samples: readonly Gsm8kSample[],
  options: PlannerOptions = {},
  combineSteps = true,
): Promise<Gsm8kTestSampleOutcome[]> {
  const model = createOracleModel(samples, { combineSteps });
  return solveGsm8kWithRoles(samples, { planner: model, solver: model }, options);
}

describe("the oracle in both roles", () => {
  it("solves Janet's ducks with the human sub-questions", async () => {
    const [done] = await solveAll(getGsm8kSlice().slice(0, 1));
    expect(done?.run.cards.map(({ sender, content }) => `${sender}: ${content}`).slice(1)).toEqual([
      "planner: How many eggs does Janet sell? Calculate 16-3-4",
      "solver: 9",
      "planner: How much does Janet make at the farmers' market? Calculate 9*2",
      "solver: 18",
      "planner: 18",
    ]);
  });

  it.each([{}, { transcript: "history" }, { maxTurns: 12 }] as const)(
    "solves all 20 shipped problems with %j",
    async (options) => {
      expect(countCorrectTestOutcomes(await solveAll(getGsm8kSlice(), options))).toBe(20);
    },
  );

  it("fits many steps into the available turns", async () => {
    const [long] = getGsm8kSlice().toSorted((a, b) => b.steps.length - a.steps.length);
    if (!long) throw new Error("the slice is empty");
    const [done] = await solveAll([long]);
    const tasks = done?.subtasks ?? [];
    expect(tasks).toHaveLength(2);
    expect(tasks.flatMap((content) => content.split("\n"))).toHaveLength(long.steps.length);
    const [one] = await solveAll([long], { maxTurns: 2 });
    expect([one?.correct, one?.run.listTasksTo("solver").length]).toEqual([true, 1]);
  });

  it("uses the solver's answers, so its errors reach the final answer", async () => {
    const samples = getGsm8kSlice();
    const [janet] = samples;
    if (!janet) throw new Error("the slice is empty");
    const taskContext = createFakeTaskContext(createPlanner(), {
      task: janet.question,
      model: createOracleModel(samples),
      delegates: { solver: ({ turn }) => ({ result: turn === 1 ? "8" : "16", status: "success" }) },
    });
    expect(await createPlanner().performTask(taskContext)).toMatchObject({ result: "16" });
    expect(taskContext.runLog.listTasksTo("solver")[1]?.content).toMatch(/Calculate 8\*2$/);
  });

  it("has no answer while steps remain", async () => {
    const results = await solveAll(getGsm8kSlice(), {}, false);
    const short = getGsm8kSlice().map(({ steps }) => steps.length <= 2);
    expect(results.map(({ completed }) => completed)).toEqual(short);
    expect(results.map(({ correct }) => correct)).toEqual(short);
  });

  it("adds an error that no later step uses", async () => {
    const [janet] = getGsm8kSlice();
    if (!janet) throw new Error("the slice is empty");
    const steps = [
      { question: "a?", text: "<<2+2=4>>4" },
      { question: "b?", text: "<<10*3=30>>30" },
    ];
    const { reply } = await runRoleInFakeTaskContext(createPlanner(), {
      task: janet.question,
      model: createOracleModel([{ ...janet, steps }]),
      delegates: { solver: ({ turn }) => ({ result: turn === 1 ? "7" : "30", status: "success" }) },
    });
    expect(reply.content).toBe("33");
  });

  it("repeats a failed subtask and ignores a forced one", async () => {
    const samples = getGsm8kSlice();
    const [janet] = samples;
    if (!janet) throw new Error("the slice is empty");
    const all = createOracleModel(samples);
    let failed = false;
    const planner = createScriptedModel(async (request, call) => {
      if (call <= 2) return '{"action":"final_answer","answer":"0"}';
      return (await all.complete(request)).text;
    });
    const { reply, run } = await runRoleInFakeTaskContext(createPlanner({ maxTurns: 5 }), {
      task: janet.question,
      model: planner,
      delegates: {
        solver: ({ task, turn }) => {
          if (turn === 2 && !failed) {
            failed = true;
            return { error: "no", errorType: "model_error" };
          }
          return { result: task.endsWith("9*2") ? "18" : "9", status: "success" };
        },
      },
    });
    expect(reply.content).toBe("18");
    expect(run.listTasksTo("solver").map(({ metadata }) => [metadata.turn, metadata.forced])).toEqual([
      [1, true],
      [2, undefined],
      [3, undefined],
      [4, undefined],
    ]);
  });

  it("answers a complete problem as an answerer", async () => {
    const samples = getGsm8kSlice();
    const { reply } = await runRoleInFakeTaskContext(createBaselineAnswerer({ style: "cot" }), {
      task: samples[0]?.question ?? "",
      model: createOracleModel(samples),
    });
    expect(reply.content).toBe(
      "How many eggs does Janet sell? 9\nHow much does Janet make at the farmers' market? 18\nAnswer: 18",
    );
  });

  it("rejects an unknown problem", async () => {
    const { reply } = await runRoleInFakeTaskContext(createPlanner(), {
      task: "What is 1 + 1?",
      model: createOracleModel(getGsm8kSlice()),
    });
    expect(reply.content).toMatch(/has no sample "What is 1 \+ 1\?"\. Create it with the samples/);
  });
});
