/**
 * The planner is a state machine: plan → (dispatch → wait)* → answer. `planner-transition.ts` computes each
 * transition from the state (`planner-state.ts`) and an event. `planner.ts` executes the steps. `prompts.ts`
 * contains all prompt texts.
 */
export { createPlanner } from "./planner.ts";
export type { PlannerMode, PlannerOptions } from "./planner-options.ts";
export type { ContextPolicy, ContextBuilder } from "./context-policy.ts";
export { parseAction } from "./planner-action.ts";
