import { type ErrorCard, type Gsm8kSample, type ResultCard, scoreAnswer } from "../../index.ts";
import { createPlanner, type PlannerOptions } from "../planner.ts";
import type { RoleModel } from "../role-model.ts";
import { createSolver } from "../solver.ts";
import { type InMemoryTestRunLog, runRoleInFakeTaskContext } from "../fake-task-context.fixture.ts";

/** The outcome of one GSM8K problem. */
export interface Gsm8kTestSampleOutcome {
  readonly sample: Gsm8kSample;
  readonly reply: ResultCard | ErrorCard;
  readonly run: InMemoryTestRunLog;
  /** Texts of the subtasks. */
  readonly subtasks: readonly string[];
  readonly completed: boolean;
  /** Whether the planner completed with the right number. */
  readonly correct: boolean;
}

/** Solves GSM8K problems with a planner and a solver in this process. */
export function solveGsm8kWithRoles(
  samples: readonly Gsm8kSample[],
  models: { readonly planner: RoleModel; readonly solver: RoleModel },
  options: PlannerOptions = {},
): Promise<Gsm8kTestSampleOutcome[]> {
  const planner = createPlanner(options);
  const solver = { role: createSolver(), model: models.solver };
  return Promise.all(
    samples.map(async (sample) => {
      const { reply, run } = await runRoleInFakeTaskContext(planner, {
        task: sample.question,
        dataset: "gsm8k",
        sampleId: sample.id,
        model: models.planner,
        delegates: { solver },
      });
      const completed = reply.metadata["status"] === "completed";
      const correct = completed && scoreAnswer(reply.content, sample.gold, "number").correct;
      const subtasks = run.listTasksTo("solver").map(({ content }) => content);
      return { sample, reply, run, subtasks, completed, correct };
    }),
  );
}

export function countCorrectTestOutcomes(outcomes: readonly { readonly correct: boolean }[]): number {
  return outcomes.filter(({ correct }) => correct).length;
}
