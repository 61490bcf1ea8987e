import { A2AError } from "../../protocol/index.ts";
import type { Gsm8kSample, Gsm8kStep } from "../datasets/index.ts";
import { findLastNumber } from "../scoring/index.ts";
import { evaluateArithmetic, formatNumber } from "./arithmetic.ts";

/** A subtask as the oracle gives it out, with what its solver will find. */
export interface OracleStep {
  /** The sub-question. */
  readonly question: string;
  /** What there is to calculate, in order; where the human wrote no annotation, nothing. */
  readonly expressions: readonly string[];
  /** The value of the last expression; else the last number of the prose, else the prose. */
  readonly answer: string;
}

/**
 * The human plan of a problem, with every annotation calculated anew. It knows the solution: what it reaches says that
 * the machinery loses nothing, and nothing of any model.
 */
export function createOraclePlan(sample: Gsm8kSample): OracleStep[] {
  if (sample.steps.length === 0)
    throw new A2AError(
      "INVALID_PARAMS",
      `${sample.id} has no steps for the oracle; read test_socratic.jsonl beside test.jsonl.`,
    );
  return sample.steps.map(solveStep);
}

/** The answer of a plan is the answer of its last step. */
export function getOracleAnswer(plan: readonly OracleStep[]): string {
  return plan.at(-1)?.answer ?? "";
}

/** A plan in at most so many calls, of consecutive steps and as even as can be, so that it fits a limit of turns. */
export function batchSteps<Step>(steps: readonly Step[], most: number): Step[][] {
  const calls = Math.min(Math.max(1, Math.trunc(most)), steps.length);
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

/** A calculator annotation of GSM8K: `<<16-3-4=9>>`. */
const CALCULATOR_ANNOTATION = /<<([^<>=]+)=[^<>]*>>/g;
