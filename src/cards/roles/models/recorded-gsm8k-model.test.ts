import { describe, expect, it } from "vitest";
import type { Gsm8kModelAnswers } from "../../index.ts";
import { runRoleInFakeTaskContext } from "../fake-task-context.fixture.ts";
import { createPlanner } from "../planner/index.ts";
import { createBaselineAnswerer, createSolver } from "../solver/index.ts";
import { createRecordedGsm8kModel } from "./index.ts";

const createSample = (text: string): Gsm8kModelAnswers => {
  const answer = { text, correct: true };
  const answers = {
    "6b_finetuning": answer,
    "6b_verification": answer,
    "175b_finetuning": answer,
    "175b_verification": { text: "It is 7.\nA: 7", correct: false },
  };
  return { id: "gsm8k_0", question: "How many?", answers };
};
const FOUR_STEP_SOLUTION = "16 - 3 = 13\n13 - 4 = 9\n9 * 2 = 18\nShe makes 18.\nA: 18";

async function runRecordedPlanner(text: string, maxTurns: number) {
  const model = createRecordedGsm8kModel([createSample(text)], "6b_finetuning");
  return runRoleInFakeTaskContext(createPlanner({ maxTurns }), {
    task: "How many?",
    sampleId: "gsm8k_0",
    model,
    delegates: { solver: { role: createSolver(), model } },
  });
}

describe("a recorded model", () => {
  it("returns its complete solution as an answerer", async () => {
    const { reply } = await runRoleInFakeTaskContext(createBaselineAnswerer({ style: "cot" }), {
      task: "How many?",
      model: createRecordedGsm8kModel([createSample(FOUR_STEP_SOLUTION)], "175b_verification"),
    });
    expect(reply.content).toBe("It is 7.\nA: 7");
  });

  it.each([
    [5, ["line 1", "line 2", "line 3", "line 4"]],
    [3, ["lines 1 to 2", "lines 3 to 4"]],
  ])("as planner and solver returns its lines in %d turns", async (turns, expected) => {
    const { reply, run } = await runRecordedPlanner(FOUR_STEP_SOLUTION, turns);
    expect(run.listTasksTo("solver").map(({ content }) => content)).toEqual(
      expected.map((lines) => `Say ${lines} of the recorded solution.`),
    );
    expect(run.cards[2]?.content).toBe(
      FOUR_STEP_SOLUTION.split("\n")
        .slice(0, turns === 3 ? 2 : 1)
        .join(" "),
    );
    expect(reply).toMatchObject({ content: "18", metadata: { status: "completed" } });
  });

  it.each(["A: 18", ""])("calls the solver once even for a solution like %j", async (text) => {
    const { reply, run } = await runRecordedPlanner(text, 3);
    expect(run.listTasksTo("solver")).toHaveLength(1);
    expect(reply).toMatchObject({ content: text === "" ? "none" : "18", metadata: { status: "completed" } });
  });

  it("rejects an unknown problem", async () => {
    const { reply } = await runRoleInFakeTaskContext(createBaselineAnswerer({ style: "cot" }), {
      task: "Why?",
      model: createRecordedGsm8kModel([createSample(FOUR_STEP_SOLUTION)], "6b_finetuning"),
    });
    expect(reply.content).toContain(
      '6b_finetuning has no recorded answer to "Why?". Create the model with the samples of the run',
    );
  });

  it("reports its id and evidence", () => {
    expect(createRecordedGsm8kModel([], "6b_finetuning")).toMatchObject({
      id: "recorded:6b_finetuning",
      evidenceKind: "recorded-model",
    });
  });
});
