/** THE ORACLE: a planner and a solver that know the human solution, to try everything around them without a model. */
export { evaluateArithmetic, formatNumber } from "./arithmetic.ts";
export { batchSteps, getOracleAnswer, createOraclePlan } from "./gsm8k-oracle.ts";
export type { OracleStep } from "./gsm8k-oracle.ts";
