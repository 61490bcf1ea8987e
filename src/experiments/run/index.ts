/**
 * THE RUN: a method over problems. `run-experiment.ts` goes through them, `line-up.ts` has the roles served, `judge.ts` says
 * whether an answer is right.
 */
export type { ScoreRule } from "./score-reply.ts";
export type { ExperimentSetupOptions } from "./experiment-setup.ts";
export type { ExperimentMethod } from "./experiment-method.ts";
export {
  type ExperimentOptions,
  type ExperimentOutcome,
  type ExperimentProgress,
  runExperiment,
} from "./run-experiment.ts";
