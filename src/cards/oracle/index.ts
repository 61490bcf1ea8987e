/** Oracle: the human solutions as a plan, for tests of the runtime without a model. */
export { evaluateArithmetic, formatNumber } from "./arithmetic.ts";
export { batchSteps, getOracleAnswer, createOraclePlan } from "./gsm8k-oracle.ts";
export type { OracleStep } from "./gsm8k-oracle.ts";
