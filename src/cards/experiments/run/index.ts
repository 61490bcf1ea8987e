/**
 * Functions that run experiments. In an experiment, a method solves the problems of a dataset.
 * `run-experiment.ts` solves the problems of a dataset, `experiment-roles.ts` starts the roles, and
 * `score-reply.ts` scores the answers.
 */

export type { ExperimentMethod } from "./experiment-method.ts";
export {
  type ExperimentOptions,
  type ExperimentOutcome,
  type ExperimentProgress,
  type FailedSample,
  runExperiment,
} from "./run-experiment.ts";
export { createJudgeScorer } from "./judge-scorer.ts";
export type { CustomScore, CustomScorer, ScorableAnswer } from "./score-reply.ts";
export { rescoreRecordLines } from "./rescore-record-lines.ts";
