/**
 * Parsers for GSM8K and HotpotQA dataset files. The caller reads the dataset files. The parsers return the
 * problems of a dataset, each with an ID. The package includes 20 GSM8K problems. HotpotQA problems are not
 * included, because their license is CC BY-SA.
 */
export { decodeGsm8k, decodeGsm8kSocraticFile, mergeSocraticSteps } from "./gsm8k.ts";
export { decodeHotpotQa } from "./hotpotqa.ts";
export { decodeGsm8kModelAnswers, GSM8K_ANSWER_MODELS } from "./gsm8k-model-answers.ts";
export type { Gsm8kAnswerModel, Gsm8kModelAnswers } from "./gsm8k-model-answers.ts";
export type {
  Gsm8kSample,
  Gsm8kStep,
  HotpotQaSample,
  Paragraph,
  QuestionSample,
  DatasetSample,
  SupportingFact,
} from "./dataset-sample.ts";
export { getGsm8kSlice } from "./gsm8k-slice.ts";
export { decodeQuestions, type QuestionFields } from "./questions.ts";
