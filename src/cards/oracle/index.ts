/**
 * The oracle solves GSM8K problems by following the human-written solutions. A run that uses the oracle tests
 * the runtime without a language model.
 */
export * from "./evaluate-arithmetic.ts";
export * from "./gsm8k-oracle.ts";
