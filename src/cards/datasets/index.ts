/**
 * Parsers for dataset files of GSM8K and HotpotQA. The caller reads the dataset files, and the parsers create
 * problems with IDs. The package includes 20 problems of GSM8K, but no problems of HotpotQA because of its CC
 * BY-SA license.
 */
export { decodeGsm8k, decodeGsm8kSocratic, mergeSocraticSteps } from "./gsm8k.ts";
export { decodeHotpotQa } from "./hotpotqa.ts";
export { decodeGsm8kModelAnswers, GSM8K_ANSWER_MODELS } from "./gsm8k-model-answers.ts";
export type { Gsm8kAnswerModel, Gsm8kModelAnswers } from "./gsm8k-model-answers.ts";
export type {
  Gsm8kSample,
  Gsm8kStep,
  HotpotQaSample,
  Paragraph,
  DatasetSample,
  SupportingFact,
} from "./dataset-sample.ts";
export { getGsm8kSlice } from "./gsm8k-slice.ts";
