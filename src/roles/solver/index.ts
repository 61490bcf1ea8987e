/**
 * The solver is a role that performs one subtask. The answerer is a baseline role that solves a complete
 * problem without a planner.
 */
export { ANSWERER_ROUTES, extractAnswer, type AnswererOptions, createAnswerer } from "./answerer.ts";
export { createSolver, type SolverOptions } from "./solver.ts";
