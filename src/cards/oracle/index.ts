/**
 * The oracle solves GSM8K problems by following the human-written solutions. A run that uses the oracle tests
 * the runtime without a language model.
 */
export { evaluateArithmetic, formatNumberWithoutExponent } from "./evaluate-arithmetic.ts";
export { batchPlanSteps, getLastOraclePlanStepAnswer, createOraclePlan } from "./gsm8k-oracle.ts";
export type { OraclePlanStep } from "./gsm8k-oracle.ts";
