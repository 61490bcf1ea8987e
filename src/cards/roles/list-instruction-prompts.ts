import type { PlannerActionName } from "./planner/planner-action.ts";
import { renderInstructions } from "./planner/prompts.ts";
import { renderAnswererInstructions, renderSolverInstructions } from "./solver/prompts.ts";

/**
 * Returns the instructions for all roles and modes. The description of a run contains a hash of the
 * instructions, because runs with other instructions are other experiments.
 */
export function listInstructionPrompts(): string[] {
  const actions: readonly (readonly PlannerActionName[])[] = [
    ["call_solver", "final_answer"],
    ["call_solvers", "final_answer"],
  ];
  return [
    ...actions.flatMap((names) =>
      (["none", "full", "routed"] as const).map((policy) =>
        renderInstructions(names, policy, { documents: true, quotes: true }),
      ),
    ),
    renderSolverInstructions(true, true),
    renderAnswererInstructions("cot", true),
    renderAnswererInstructions("direct", true),
  ];
}
