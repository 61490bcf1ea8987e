/**
 * The solver is a role that performs one subtask. The answerer is a baseline role that solves a complete
 * problem without a planner.
 */
export * from "./baseline-answerer.ts";
export * from "./solver.ts";
