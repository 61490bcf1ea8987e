/** THE SOLVER, which does one subtask, and the ANSWERER, which does a whole problem by itself to compare with. */
export { ANSWERER_ROUTES, extractAnswer, type AnswererOptions, createAnswerer } from "./answerer.ts";
export { createSolver, type SolverOptions } from "./solver.ts";
