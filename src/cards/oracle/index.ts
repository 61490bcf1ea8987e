/** THE ORACLE: a planner and a solver that know the human solution, to try everything around them without a model. */
export { evaluate, writeNumber } from "./arithmetic.ts";
export { batchSteps, oracleAnswer, oraclePlan } from "./gsm8k.ts";
export type { OracleStep } from "./gsm8k.ts";
