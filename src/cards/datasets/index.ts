/**
 * THE PROBLEMS: GSM8K and HotpotQA, from the text of their files to samples with ids. Whoever calls reads the files; 20
 * problems of GSM8K are shipped. HotpotQA is CC BY-SA and is not.
 */
export { decodeGsm8k, decodeGsm8kSocratic, mergeSocraticSteps } from "./gsm8k.ts";
export { decodeHotpotQa } from "./hotpotqa.ts";
export { decodeGsm8kModelAnswers, GSM8K_ANSWER_MODELS } from "./gsm8k-model-answers.ts";
export type { Gsm8kModelAnswer, Gsm8kAnswerModel, Gsm8kModelAnswers } from "./gsm8k-model-answers.ts";
export type {
  Gsm8kSample,
  Gsm8kStep,
  HotpotQaSample,
  Paragraph,
  DatasetSample,
  SupportingFact,
} from "./dataset-sample.ts";
export { getGsm8kSlice } from "./gsm8k-slice.ts";
