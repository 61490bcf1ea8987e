import { A2AError } from "../../protocol/index.ts";
import type { Gsm8kSample, Gsm8kStep } from "../datasets/index.ts";
import { findLastNumber } from "../scoring/index.ts";
import { evaluateArithmetic, formatNumber } from "./arithmetic.ts";

/** A subtask of the oracle, with the answer that its solver will find. */
export interface OracleStep {
  /** Sub-question of the step. */
  readonly question: string;
  /** Expressions to calculate, in order. Empty if the human solution has no annotations. */
  readonly expressions: readonly string[];
  /** Value of the last expression, else the last number of the prose, else the prose itself. */
  readonly answer: string;
}

/**
 * Returns the human solution plan of a problem, with every annotation recalculated.
 * The oracle knows the solution, so its accuracy measures the runtime and not a model.
 */
export function createOraclePlan(sample: Gsm8kSample): OracleStep[] {
  if (sample.steps.length === 0)
    throw new A2AError(
      "INVALID_PARAMS",
      `${sample.id} has no steps for the oracle. Read test_socratic.jsonl in addition to test.jsonl.`,
    );
  return sample.steps.map(solveStep);
}

/** Returns the answer of the last step of a plan. */
export function getOracleAnswer(plan: readonly OracleStep[]): string {
  return plan.at(-1)?.answer ?? "";
}

/**
 * Divides the steps of a plan into at most `maxBatches` batches of consecutive steps and nearly equal size.
 * This keeps a plan within a turn limit.
 */
export function batchSteps<Step>(steps: readonly Step[], maxBatches: number): Step[][] {
  const calls = Math.min(Math.max(1, Math.trunc(maxBatches)), steps.length);
  return Array.from({ length: calls }, (_, call) =>
    steps.slice(Math.floor((call * steps.length) / calls), Math.floor(((call + 1) * steps.length) / calls)),
  );
}

function solveStep({ question, text }: Gsm8kStep): OracleStep {
  const expressions = [...text.matchAll(CALCULATOR_ANNOTATION)].map(([, expression = ""]) => expression);
  const last = expressions.at(-1);
  const answer = last === undefined ? (findLastNumber(text) ?? text) : formatNumber(evaluateArithmetic(last));
  return { question, expressions, answer };
}

/** Calculator annotation of GSM8K, for example `<<16-3-4=9>>`. */
const CALCULATOR_ANNOTATION = /<<([^<>=]+)=[^<>]*>>/g;
