/** THE SCORES: whether an answer is right, by the rules that the datasets were published with. No substring counts. */
export { findLastNumber, scoreGsm8k, findStrictAnswer } from "./gsm8k-score.ts";
export type { Gsm8kScoringRule, Gsm8kScore } from "./gsm8k-score.ts";
export {
  normalizeAnswer,
  scoreHotpotQaAnswer,
  scoreHotpotQaJoint,
  scoreSupportingFacts,
} from "./hotpotqa-score.ts";
export type { OverlapScore } from "./hotpotqa-score.ts";
