/**
 * The oracle solves GSM8K problems with the human solutions. Runs with the oracle test the runtime without a
 * language model.
 */
export { evaluateArithmetic, formatNumberWithoutExponent } from "./evaluate-arithmetic.ts";
export { batchPlanSteps, getOraclePlanAnswer, createOraclePlan } from "./gsm8k-oracle.ts";
export type { OraclePlanStep } from "./gsm8k-oracle.ts";
