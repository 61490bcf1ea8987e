/**
 * The oracle solves GSM8K problems with the human solutions. Runs with the oracle test the runtime without a
 * language model.
 */
export { evaluateArithmetic, formatNumber } from "./arithmetic.ts";
export { batchSteps, getOracleAnswer, createOraclePlan } from "./gsm8k-oracle.ts";
export type { OracleStep } from "./gsm8k-oracle.ts";
