/**
 * THE PLANNER: a machine of three states, plan → (dispatch → wait)* → answer. `next.ts` decides, as a function of what it
 * knows (`state.ts`) and what happened; `planner.ts` does what it says; `prompts.ts` has every word that a model is told.
 */
export { createPlanner } from "./planner.ts";
export type { PlannerMode, PlannerOptions } from "./planner-options.ts";
export type { ContextPolicy, ContextBuilder } from "./context-policy.ts";
export { parseAction } from "./planner-action.ts";
