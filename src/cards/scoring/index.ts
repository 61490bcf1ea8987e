/**
 * Functions that extract answers from replies and score them. HotpotQA's measures follow its published script.
 * No scorer accepts substring matches.
 */
export {
  type AnswerForm,
  extractAnswer,
  findLastNumber,
  isPlaceholderText,
  removeThinking,
} from "./extract-answer.ts";
export { ANSWER_SCORERS, type AnswerScorer, getAnswerForm, scoreAnswer } from "./score-answer.ts";
export { normalizeAnswer, scoreHotpotQaAnswer, scoreSupportingFacts } from "./hotpotqa-score.ts";
