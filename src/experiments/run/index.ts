/**
 * THE RUN: a method over problems. `run-experiment.ts` goes through them, `line-up.ts` has the roles served, `judge.ts` says
 * whether an answer is right.
 */
export type { ScoreRule } from "./judge.ts";
export type { LineUpOptions } from "./line-up.ts";
export type { Method } from "./method.ts";
export {
  type ExperimentOptions,
  type ExperimentOutcome,
  type Progress,
  runExperiment,
} from "./run-experiment.ts";
