import { describe, expect, it } from "vitest";
import { getGsm8kSlice, type Gsm8kSample, scoreGsm8k } from "../../cards/index.ts";
import { createFakeTaskContext, runRole } from "../task-context.fixture.ts";
import { createPlanner, type PlannerOptions } from "../planner/index.ts";
import { createAnswerer, createSolver } from "../solver/index.ts";
import { createOracleModel, createScriptedModel } from "./index.ts";

async function solveAll(samples: readonly Gsm8kSample[], options: PlannerOptions = {}, batch = true) {
  const model = createOracleModel(samples, { combineSteps: batch });
  const planner = createPlanner(options);
  const solver = createSolver();
  return Promise.all(
    samples.map(async ({ id, question, gold }) => {
      const { reply, run } = await runRole(planner, {
        task: question,
        dataset: "gsm8k",
        sampleId: id,
        model,
        delegates: { solver: { role: solver, model } },
      });
      const completed = reply.metadata["status"] === "completed";
      return {
        id,
        run,
        completed,
        correct: completed && scoreGsm8k(reply.content, gold, "flexible").correct,
      };
    }),
  );
}

const countCorrect = (results: readonly { correct: boolean }[]): number =>
  results.filter(({ correct }) => correct).length;

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

  it.each([
    {},
    { mode: "parallel" },
    { mode: "plan-first" },
    { transcript: "history" },
    { maxTurns: 12 },
  ] as const)("solves all 20 shipped problems with %j", async (options) => {
    expect(countCorrect(await solveAll(getGsm8kSlice(), options))).toBe(20);
  });

  it("fits many steps into the turns there are, or the calls", async () => {
    const [long] = getGsm8kSlice().toSorted((a, b) => b.steps.length - a.steps.length);
    if (!long) throw new Error("the slice is empty");
    const [done] = await solveAll([long]);
    const tasks = done?.run.listTasksTo("solver") ?? [];
    expect(tasks).toHaveLength(2);
    expect(tasks.flatMap(({ content }) => content.split("\n"))).toHaveLength(long.steps.length);
    const [one] = await solveAll([long], { maxSolverCalls: 1 });
    expect([one?.correct, one?.run.listTasksTo("solver").length]).toEqual([true, 1]);
  });

  it("asks on with what the solver said, and carries its errors to the answer", async () => {
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

  it("that has not come to its end has no answer", async () => {
    const results = await solveAll(getGsm8kSlice(), {}, false);
    const short = getGsm8kSlice().map(({ steps }) => steps.length <= 2);
    expect(results.map(({ completed }) => completed)).toEqual(short);
    expect(results.map(({ correct }) => correct)).toEqual(short);
  });

  it("adds an error that no later step speaks of", async () => {
    const [janet] = getGsm8kSlice();
    if (!janet) throw new Error("the slice is empty");
    const steps = [
      { question: "a?", text: "<<2+2=4>>4" },
      { question: "b?", text: "<<10*3=30>>30" },
    ];
    const { reply } = await runRole(createPlanner(), {
      task: janet.question,
      model: createOracleModel([{ ...janet, steps }]),
      delegates: { solver: ({ turn }) => ({ result: turn === 1 ? "7" : "30", status: "success" }) },
    });
    expect(reply.content).toBe("33");
  });

  it("gives a failed subtask out again, and does not take a forced one for its own", async () => {
    const samples = getGsm8kSlice();
    const [janet] = samples;
    if (!janet) throw new Error("the slice is empty");
    const all = createOracleModel(samples);
    let failed = false;
    const planner = createScriptedModel(async (request, call) => {
      if (call <= 2) return '{"action":"final_answer","answer":"0"}';
      return (await all.complete(request)).text;
    });
    const { reply, run } = await runRole(createPlanner({ maxTurns: 5 }), {
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

  it("answers a whole problem by itself, too", async () => {
    const samples = getGsm8kSlice();
    const { reply } = await runRole(createAnswerer({ style: "cot" }), {
      task: samples[0]?.question ?? "",
      model: createOracleModel(samples),
    });
    expect(reply.content).toBe(
      "How many eggs does Janet sell? 9\nHow much does Janet make at the farmers' market? 18\nAnswer: 18",
    );
  });

  it("knows no other problem", async () => {
    const { reply } = await runRole(createPlanner(), {
      task: "What is 1 + 1?",
      model: createOracleModel(getGsm8kSlice()),
    });
    expect(reply.content).toMatch(/has no sample "What is 1 \+ 1\?"\. Create it with the samples/);
  });
});
