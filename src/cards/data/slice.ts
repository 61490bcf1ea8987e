import { decodeGsm8k, decodeSocratic, joinSocratic } from "./gsm8k.ts";
import { SOCRATIC_LINES, TEST_LINES } from "./gsm8k-first-20.ts";
import type { GsmSample } from "./sample.ts";

/** The first 20 problems of GSM8K's test split, with their steps: what is there without a download. */
export function gsm8kSlice(): GsmSample[] {
  return joinSocratic(
    decodeGsm8k(TEST_LINES, "the shipped slice"),
    decodeSocratic(SOCRATIC_LINES, "the shipped slice in steps"),
  );
}
