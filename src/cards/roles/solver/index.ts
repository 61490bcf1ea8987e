/**
 * The solver is a role that performs one subtask. The answerer is a baseline role that solves a complete
 * problem without a planner.
 */
export {
  BASELINE_ANSWERER_CARD_ROUTES,
  type BaselineAnswererOptions,
  createBaselineAnswerer,
} from "./baseline-answerer.ts";
export { createSolver, type SolverOptions } from "./solver.ts";
