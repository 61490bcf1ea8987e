/**
 * The planner is a state machine with the sequence plan → (dispatch → wait)* → answer.
 * `planner-transition.ts` computes each transition from the planner state (`planner-state.ts`) and an event.
 * `planner.ts` executes the steps. `prompts.ts` contains all prompt texts of the planner.
 */
export { createPlanner } from "./planner.ts";
export type { PlannerDispatchMode, PlannerOptions } from "./planner-options.ts";
export type { SubtaskDocumentContextPolicy, ContextBuilder } from "./subtask-document-context-policy.ts";
export { parseAction } from "./planner-action.ts";
