/**
 * Scoring of answers by the rules that were published with the datasets. No rule accepts substring matches.
 */
export { findLastNumber, scoreGsm8k, findStrictAnswer } from "./gsm8k-score.ts";
export type { Gsm8kScoringRule } from "./gsm8k-score.ts";
export {
  normalizeAnswer,
  scoreHotpotQaAnswer,
  scoreHotpotQaJoint,
  scoreSupportingFacts,
} from "./hotpotqa-score.ts";
