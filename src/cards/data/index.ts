/**
 * THE PROBLEMS: GSM8K and HotpotQA, from the text of their files to samples with ids. Whoever calls reads the files; 20
 * problems of GSM8K are shipped. HotpotQA is CC BY-SA and is not.
 */
export { decodeGsm8k, decodeSocratic, joinSocratic } from "./gsm8k.ts";
export { decodeHotpotQa } from "./hotpotqa.ts";
export { decodeRecorded, RECORDED_MODELS } from "./recorded.ts";
export type { RecordedAnswer, RecordedModel, RecordedSample } from "./recorded.ts";
export type { GsmSample, GsmStep, HotpotSample, Paragraph, Sample, SupportingFact } from "./sample.ts";
export { gsm8kSlice } from "./slice.ts";
