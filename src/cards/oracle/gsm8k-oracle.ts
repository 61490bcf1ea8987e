import { A2AError } from "../../protocol/index.ts";
import type { Gsm8kSample, Gsm8kStep } from "../datasets/index.ts";
import { findLastNumber } from "../scoring/index.ts";
import { evaluateArithmetic, formatNumberWithoutExponent } from "./evaluate-arithmetic.ts";

/** A subtask in the oracle's plan, with the answer that the solver returns. */
export interface OraclePlanStep {
  readonly question: string;
  /**
   * Arithmetic expressions to evaluate, in order. `expressions` is empty if the human solution has no
   * calculator annotations.
   */
  readonly expressions: readonly string[];
  /**
   * Answer to the subtask, which is the value of the last expression. Without an expression, the answer is
   * the last number in the step's text, or else the entire text.
   */
  readonly answer: string;
}

/**
 * Returns the human solution to a problem as a plan. The function recalculates the calculator annotations.
 * The oracle knows the solution, so its accuracy measures the runtime and not the quality of a model.
 */
export function createOraclePlan(sample: Gsm8kSample): OraclePlanStep[] {
  if (sample.steps.length === 0)
    throw new A2AError(
      "INVALID_PARAMS",
      `${sample.id} has no steps for the oracle. Read test_socratic.jsonl in addition to test.jsonl.`,
    );
  return sample.steps.map(createOraclePlanStep);
}

export function getLastOraclePlanStepAnswer(plan: readonly OraclePlanStep[]): string {
  return plan.at(-1)?.answer ?? "";
}

/**
 * Divides the steps of a plan into at most `maxBatches` batches of nearly equal size, so that the plan fits a
 * turn limit.
 */
export function batchPlanSteps<Step>(steps: readonly Step[], maxBatches: number): Step[][] {
  const calls = Math.min(Math.max(1, Math.trunc(maxBatches)), steps.length);
  return Array.from({ length: calls }, (_, call) =>
    steps.slice(Math.floor((call * steps.length) / calls), Math.floor(((call + 1) * steps.length) / calls)),
  );
}

function createOraclePlanStep({ question, text }: Gsm8kStep): OraclePlanStep {
  const expressions = [...text.matchAll(CALCULATOR_ANNOTATION_PATTERN)].map(
    ([, expression = ""]) => expression,
  );
  const last = expressions.at(-1);
  const answer =
    last === undefined
      ? (findLastNumber(text) ?? text)
      : formatNumberWithoutExponent(evaluateArithmetic(last));
  return { question, expressions, answer };
}

/** Pattern of a calculator annotation in GSM8K, for example `<<16-3-4=9>>`. */
const CALCULATOR_ANNOTATION_PATTERN = /<<([^<>=]+)=[^<>]*>>/g;
