import {
  ANSWER_SCORERS,
  type AnswerScorer,
  type DatasetSample,
  type ErrorCard,
  isPlaceholderText,
  type MessageCard,
  PLANNER,
  type ResultCard,
  scoreAnswer,
  scoreSupportingFacts,
  type SupportingFact,
} from "../../index.ts";
import { parseContextDocuments } from "../../roles/index.ts";
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

type ReplyScore = Pick<ScoreRecordInput, "gold" | "correct" | "rule" | "predicted" | "measures" | "outcome">;

/**
 * Scores the reply to a problem with the same rule for every method. Results with the status `completed` or
 * `success` contain an answer. A partial result counts as wrong, because its answer may be correct only by
 * chance.
 */
export function scoreReply(gold: string, reply: ResultCard | ErrorCard, scorer: AnswerScorer): ReplyScore {
  const { message_type, content, metadata } = reply;
  const status = message_type === "result" ? metadata["status"] : "error";
  const isAnswer = status === "completed" || status === "success";
  const score = scoreAnswer(isAnswer ? content : "", gold, scorer);
  const { predicted, correct, measures } = score;
  return {
    gold,
    correct,
    rule: scorer,
    outcome: isAnswer ? classifyAnswer(content, score) : getReplyErrorType(reply),
    ...(predicted !== undefined && { predicted }),
    ...(measures && { measures }),
  };
}

/** Returns the outcome of a reply that contains no answer, which is its error type or its status. */
export function getReplyErrorType({ message_type, metadata }: ResultCard | ErrorCard): string {
  const { error_type, status } = metadata as { error_type?: unknown; status?: unknown };
  if (typeof error_type === "string") return error_type;
  return message_type === "result" && typeof status === "string" ? status : "error";
}

function classifyAnswer(
  content: string,
  { predicted, isMarked }: Pick<ReturnType<typeof scoreAnswer>, "predicted" | "isMarked">,
): string {
  if (isPlaceholderText(content) || isPlaceholderText(predicted ?? "")) return "placeholder";
  if (predicted === undefined) return "no_answer";
  return isMarked ? "answered" : "unmarked";
}

/**
 * Scores the selection of paragraphs if the solvers received some but not all paragraphs of the problem. `cards`
 * are the message cards of the problem.
 */
export function scoreParagraphs(
  sample: DatasetSample,
  cards: readonly MessageCard[],
): Record<string, number> {
  const shown = new Set(
    cards
      .filter(({ sender, message_type }) => sender === PLANNER && message_type === "task")
      // The context of a task card is an object, because `parse` has validated the card.
      .flatMap(({ metadata: { context } }) =>
        parseContextDocuments(context as Parameters<typeof parseContextDocuments>[0]),
      )
      .map(({ title }) => title),
  );
  if (sample.dataset !== "hotpotqa" || shown.size === 0 || shown.size === sample.paragraphs.length) return {};
  const gold = new Set(sample.supportingFacts.map(({ title }) => title));
  const { exact, precision, recall, f1 } = scoreSupportingFacts(
    createSupportingFactsFromTitles(shown),
    createSupportingFactsFromTitles(gold),
  );
  return {
    paragraphs_em: exact,
    paragraphs_precision: precision,
    paragraphs_recall: recall,
    paragraphs_f1: f1,
    paragraphs_all: recall === 1 ? 1 : 0,
  };
}

function createSupportingFactsFromTitles(titles: Iterable<string>): SupportingFact[] {
  return Array.from(titles, (title) => ({ title, sentence: 0 }));
}
