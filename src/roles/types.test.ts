import { describe, expectTypeOf, it } from "vitest";
import type { ErrorCard, ResultCard } from "../cards/index.ts";
import {
  type TaskOutcome,
  type CassetteStore,
  createAnswerer,
  createPlanner,
  createSolver,
  type TaskContext,
  type ModelInput,
  createOracleModel,
  type PlannerOptions,
  type Role,
  type RoleModel,
  createScriptedModel,
  type CassetteEntry,
} from "./index.ts";
import type { PlannerAction } from "./planner/planner-action.ts";

describe("the types of roles", () => {
  it("have roles and models of ours be roles and models", () => {
    expectTypeOf(createPlanner).returns.toEqualTypeOf<Role>();
    expectTypeOf(createSolver).returns.toEqualTypeOf<Role>();
    expectTypeOf(createAnswerer).returns.toEqualTypeOf<Role>();
    expectTypeOf(createOracleModel).returns.toEqualTypeOf<RoleModel>();
    expectTypeOf<Map<string, CassetteEntry>["get"]>().toExtend<CassetteStore["get"]>();
  });

  it("tell steps, actions and answers apart", () => {
    expectTypeOf<ModelInput["kind"]>().toEqualTypeOf<"plan" | "solve" | "answer">();
    expectTypeOf<PlannerAction["action"]>().toEqualTypeOf<"call_solver" | "call_solvers" | "final_answer">();
    expectTypeOf<Extract<TaskOutcome, { error: string }>>().not.toHaveProperty("result");
    expectTypeOf<Awaited<ReturnType<TaskContext["delegate"]>>>().toEqualTypeOf<ResultCard | ErrorCard>();
  });

  it("refuse what there is not", () => {
    // @ts-expect-error there is no such mode
    createPlanner({ mode: "plan_first" });
    // @ts-expect-error there is no such policy
    createPlanner({ context: "some" });
    // @ts-expect-error an answerer has to know how
    createAnswerer({});
    // @ts-expect-error a chain of thought is called cot
    createAnswerer({ style: "chain-of-thought" });
    // @ts-expect-error a reply has a text
    createScriptedModel([{ finish: "stop" }]);
    expectTypeOf<PlannerOptions["maxTurns"]>().toEqualTypeOf<number | undefined>();
  });

  it("take errors of one's own, and complete those of ours", () => {
    expectTypeOf<{ retries: { timeout: 2; my_error: 1 } }>().toExtend<PlannerOptions>();
  });

  it("give a function the subtask and the task", () => {
    createPlanner({
      context: (subtask, task) => {
        expectTypeOf(subtask.documents).toEqualTypeOf<readonly string[] | undefined>();
        return task.metadata.context;
      },
    });
  });
});
