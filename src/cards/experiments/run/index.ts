/**
 * Functions that run experiments. In an experiment, a method solves the problems of a dataset.
 * `run-experiment.ts` solves the problems of a dataset, `experiment-roles.ts` starts the roles, and
 * `score-reply.ts` scores the answers.
 */
export * from "./experiment-roles.ts";
export * from "./score-reply.ts";
export * from "./run-experiment.ts";
