/**
 * Functions that score answers by the published rules of GSM8K and HotpotQA. No scoring rule accepts
 * substring matches.
 */
export { findLastNumber, scoreGsm8k, findStrictAnswer } from "./gsm8k-score.ts";
export type { Gsm8kAnswerExtractionRule } from "./gsm8k-score.ts";
export {
  normalizeAnswer,
  scoreHotpotQaAnswer,
  scoreHotpotQaJoint,
  scoreSupportingFacts,
} from "./hotpotqa-score.ts";
export { isPlaceholderText } from "./placeholder-text.ts";
