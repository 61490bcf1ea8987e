import type { PlannerActionName } from "./planner/planner-action.ts";
import { renderInstructions } from "./planner/prompts.ts";
import { renderAnswererInstructions, renderSolverInstructions } from "./solver/prompts.ts";

/** Options of the roles whose instructions replace those of the package. */
interface InstructedRoles {
  readonly planner?: { readonly instructions?: string };
  readonly solver?: { readonly instructions?: string };
  readonly answerer?: { readonly instructions?: string };
}

/**
 * Returns the instructions for all roles and modes. The description of a run contains a hash of the
 * instructions, because runs with other instructions are other experiments.
 */
export function listInstructionPrompts({ planner, solver, answerer }: InstructedRoles = {}): string[] {
  const actions: readonly (readonly PlannerActionName[])[] = [
    ["call_solver", "final_answer"],
    ["call_solvers", "final_answer"],
  ];
  return [
    ...actions.flatMap((names) =>
      (["none", "full", "routed"] as const).map((policy) =>
        renderInstructions(names, policy, { documents: true, quotes: true }, planner?.instructions),
      ),
    ),
    renderSolverInstructions(true, true, solver?.instructions),
    renderAnswererInstructions("cot", true, answerer?.instructions),
    renderAnswererInstructions("direct", true, answerer?.instructions),
  ];
}
