import { decodeGsm8k, decodeGsm8kSocratic, mergeSocraticSteps } from "./gsm8k.ts";
import { GSM8K_SOCRATIC_JSONL, GSM8K_TEST_JSONL } from "./gsm8k-first-20.ts";
import type { Gsm8kSample } from "./dataset-sample.ts";

/** The first 20 problems of GSM8K's test split, with their steps: what is there without a download. */
export function getGsm8kSlice(): Gsm8kSample[] {
  return mergeSocraticSteps(
    decodeGsm8k(GSM8K_TEST_JSONL, "the shipped slice"),
    decodeGsm8kSocratic(GSM8K_SOCRATIC_JSONL, "the shipped slice in steps"),
  );
}
