/**
 * The solver performs one subtask. The answerer solves a complete problem without a planner and serves as a
 * baseline.
 */
export { ANSWERER_ROUTES, extractAnswer, type AnswererOptions, createAnswerer } from "./answerer.ts";
export { createSolver, type SolverOptions } from "./solver.ts";
