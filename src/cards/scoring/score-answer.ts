import { type AnswerForm, extractAnswer } from "./extract-answer.ts";
import { normalizeAnswer, scoreHotpotQaAnswer } from "./hotpotqa-score.ts";

/**
 * Scorers of answers:
 *
 * - `number`: the answer is the same number, with a tolerance of 1e-6.
 * - `exact`: the answer has the same words, without case, punctuation, and articles.
 * - `f1`: like `exact`, with the additional measure `f1` over words.
 * - `choice`: the answer is the same letter.
 */
export type AnswerScorer = "number" | "exact" | "f1" | "choice";

export const ANSWER_SCORERS: readonly AnswerScorer[] = ["number", "exact", "f1", "choice"];

/** Score of an answer. */
interface AnswerScore {
  readonly predicted: string | undefined;
  /** Whether the answer has the requested format. */
  readonly isMarked: boolean;
  readonly correct: boolean;
  readonly measures?: Readonly<Record<string, number>>;
}

/** Returns the form of the answers that a scorer compares. */
export function getAnswerForm(scorer: AnswerScorer): AnswerForm {
  return scorer === "number" || scorer === "choice" ? scorer : "text";
}

/** Extracts the answer from a reply and compares it with the correct answer. */
export function scoreAnswer(reply: string, gold: string, scorer: AnswerScorer): AnswerScore {
  const form = getAnswerForm(scorer);
  const { answer: predicted, isMarked } = extractAnswer(reply, form);
  if (scorer === "f1") {
    const { exact, f1 } = scoreHotpotQaAnswer(predicted ?? "", gold);
    return { predicted, isMarked, correct: exact === 1, measures: { em: exact, f1 } };
  }
  return { predicted, isMarked, correct: predicted !== undefined && isSameAnswer(predicted, gold, form) };
}

/** Compares an answer with the correct answer. An unreadable correct answer equals no answer. */
function isSameAnswer(predicted: string, gold: string, form: AnswerForm): boolean {
  const expected = extractAnswer(gold, form).answer;
  if (expected === undefined) return false;
  if (form === "number") return Math.abs(Number(predicted) - Number(expected)) <= 1e-6;
  return form === "choice" ? predicted === expected : normalizeAnswer(predicted) === normalizeAnswer(gold);
}
