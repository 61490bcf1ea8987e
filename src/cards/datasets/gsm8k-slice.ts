import { decodeGsm8k, decodeGsm8kSocraticFile, mergeSocraticSteps } from "./gsm8k.ts";
import { GSM8K_SOCRATIC_JSONL, GSM8K_TEST_JSONL } from "./gsm8k-first-20.ts";
import type { Gsm8kSample } from "./dataset-sample.ts";

/**
 * Returns the first 20 problems of the GSM8K test split with their steps. The package includes these 20
 * problems.
 */
export function getGsm8kSlice(): Gsm8kSample[] {
  return mergeSocraticSteps(
    decodeGsm8k(GSM8K_TEST_JSONL, "the bundled GSM8K sample"),
    decodeGsm8kSocraticFile(GSM8K_SOCRATIC_JSONL, "the bundled Socratic GSM8K sample"),
  );
}
