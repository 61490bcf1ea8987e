import { describe, expectTypeOf, it } from "vitest";
import type { ErrorCard, ResultCard } from "../index.ts";
import {
  type TaskOutcome,
  type CassetteStore,
  createBaselineAnswerer,
  createPlanner,
  createSolver,
  type TaskContext,
  type StructuredModelInput,
  createOracleModel,
  type PlannerOptions,
  type Role,
  type RoleModel,
  createScriptedModel,
  type CassetteEntry,
} from "./index.ts";
import type { PlannerAction } from "./planner-action.ts";

describe("the types of roles", () => {
  it("make the built-in roles and models roles and models", () => {
    expectTypeOf(createPlanner).returns.toEqualTypeOf<Role>();
    expectTypeOf(createSolver).returns.toEqualTypeOf<Role>();
    expectTypeOf(createBaselineAnswerer).returns.toEqualTypeOf<Role>();
    expectTypeOf(createOracleModel).returns.toEqualTypeOf<RoleModel>();
    expectTypeOf<Map<string, CassetteEntry>["get"]>().toExtend<CassetteStore["get"]>();
  });

  it("distinguish inputs, actions, and outcomes", () => {
    expectTypeOf<StructuredModelInput["kind"]>().toEqualTypeOf<"plan" | "solve" | "answer">();
    expectTypeOf<PlannerAction["action"]>().toEqualTypeOf<"call_solver" | "final_answer">();
    expectTypeOf<Extract<TaskOutcome, { error: string }>>().not.toHaveProperty("result");
    expectTypeOf<Awaited<ReturnType<TaskContext["delegate"]>>>().toEqualTypeOf<ResultCard | ErrorCard>();
  });

  it("reject invalid options", () => {
    // @ts-expect-error the transcript does not exist
    createPlanner({ transcript: "none" });
    // @ts-expect-error the context policy does not exist
    createPlanner({ context: "some" });
    // @ts-expect-error `style` is required
    createBaselineAnswerer({});
    // @ts-expect-error the style is called `cot`
    createBaselineAnswerer({ style: "chain-of-thought" });
    // @ts-expect-error `text` is required
    createScriptedModel([{ finish: "stop" }]);
    expectTypeOf<PlannerOptions["maxTurns"]>().toEqualTypeOf<number | undefined>();
  });
});
