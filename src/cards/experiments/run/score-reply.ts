import { omitUndefined } from "../../../base/usage-checks/index.ts";
import {
  ANSWER_SCORERS,
  type AnswerForm,
  type AnswerScorer,
  type ErrorCard,
  extractAnswer,
  getAnswerForm,
  isPlaceholderText,
  type ResultCard,
  scoreAnswer,
} from "../../index.ts";
import type { Dataset } from "../data/index.ts";
import type { ScoreRecordInput } from "../recorder/index.ts";

/**
 * Returns the scorer of a run. By default, the scorer is `number` if all correct answers are numbers, and `f1` otherwise.
 * Throws a `RangeError` if the scorer is unknown.
 */
export function resolveScorer({ samples }: Pick<Dataset, "samples">, name?: string): AnswerScorer {
  if (name === undefined) return samples.every(({ gold }) => isNumber(gold)) ? "number" : "f1";
  const found = ANSWER_SCORERS.find((scorer) => scorer === name);
  if (found) return found;
  throw new RangeError(`${JSON.stringify(name)} is not a scorer. Use ${ANSWER_SCORERS.join(", ")}.`);
}

/** Returns whether a correct answer is a number, also after the solution of a GSM8K file. */
function isNumber(gold: string): boolean {
  return /####|^[\s$-]*\d[\d,]*(?:\.\d+)?\s*$/.test(gold);
}

/** A custom scorer. */
export interface CustomScorer {
  /** Name of the scorer in recordings. Runs with different scorers are not comparable. */
  readonly name: string;
  /** Form of the answers, which decides how the answer is found in a reply. Default: `text`. */
  readonly answerForm?: AnswerForm;
  /** Scores one answer. If it rejects, the run fails, and a resumed run continues with the same problem. */
  score(answer: ScorableAnswer): CustomScore | Promise<CustomScore>;
}

/** An answer, with its problem. */
export interface ScorableAnswer {
  readonly question: string;
  readonly gold: string;
  /** The complete reply. */
  readonly reply: string;
  /** Answer that was found in the reply, or `undefined` if the reply contains none. */
  readonly predicted: string | undefined;
  readonly signal: AbortSignal;
}

/** The score of an answer. */
export interface CustomScore {
  readonly correct: boolean;
  /** Additional scores between 0 and 1. */
  readonly measures?: Readonly<Record<string, number>>;
}

type ReplyScore = Pick<ScoreRecordInput, "gold" | "correct" | "rule" | "predicted" | "measures" | "outcome">;

/**
 * Scores the reply to a problem with the same rule for every method. Results with the status `completed` or
 * `success` contain an answer. A partial result counts as wrong, because its answer may be correct only by
 * chance.
 */
export async function scoreReply(
  scorer: AnswerScorer | CustomScorer,
  { gold, question, signal }: Pick<ScorableAnswer, "gold" | "question" | "signal">,
  reply: ResultCard | ErrorCard,
): Promise<ReplyScore> {
  const { message_type, metadata, content } = reply;
  const isAnswer = message_type === "result" && ["completed", "success"].includes(metadata["status"]);
  const text = isAnswer ? content : "";
  const isBuiltIn = typeof scorer === "string";
  const { name: rule, answerForm: form = "text" } = isBuiltIn
    ? { name: scorer, answerForm: getAnswerForm(scorer) }
    : scorer;
  const { answer: predicted, isMarked } = extractAnswer(text, form);
  let score: CustomScore = { correct: false };
  if (isBuiltIn) score = scoreAnswer(text, gold, scorer);
  else if (isAnswer) score = await scorer.score({ gold, question, signal, reply: content, predicted });
  const { correct, measures } = score;
  const outcome = isAnswer ? classifyAnswer(content, predicted, isMarked) : getReplyErrorType(reply);
  return { gold, correct, rule, outcome, ...omitUndefined({ predicted, measures }) };
}

/** Returns the outcome of a reply that contains no answer, which is its error type or its status. */
export function getReplyErrorType({ message_type, metadata }: ResultCard | ErrorCard): string {
  const { error_type, status } = metadata as { error_type?: unknown; status?: unknown };
  if (typeof error_type === "string") return error_type;
  return message_type === "result" && typeof status === "string" ? status : "error";
}

function classifyAnswer(content: string, predicted: string | undefined, isMarked: boolean): string {
  if (isPlaceholderText(content) || isPlaceholderText(predicted ?? "")) return "placeholder";
  if (predicted === undefined) return "no_answer";
  return isMarked ? "answered" : "unmarked";
}
