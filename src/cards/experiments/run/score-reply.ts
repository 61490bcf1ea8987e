import {
  ANSWER_SCORERS,
  type AnswerForm,
  type AnswerScorer,
  type DatasetSample,
  type ErrorCard,
  extractAnswer,
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

/** Scores the reply to a problem like `scoreReply`, also with a custom scorer. */
export async function scoreReplyWith(
  scorer: AnswerScorer | CustomScorer,
  { gold, question, signal }: Pick<ScorableAnswer, "gold" | "question" | "signal">,
  reply: ResultCard | ErrorCard,
): Promise<ReplyScore> {
  if (typeof scorer === "string") return scoreReply(gold, reply, scorer);
  const { name, answerForm = "text" } = scorer;
  const found = isAnswerCard(reply)
    ? extractAnswer(reply.content, answerForm)
    : { answer: undefined, isMarked: false };
  const { answer: predicted, isMarked } = found;
  const answer = { gold, question, signal, reply: reply.content, predicted };
  const score = isAnswerCard(reply) ? await scorer.score(answer) : { correct: false };
  return {
    gold,
    correct: score.correct,
    rule: name,
    outcome: isAnswerCard(reply)
      ? classifyAnswer(reply.content, { predicted, isMarked })
      : getReplyErrorType(reply),
    ...(predicted !== undefined && { predicted }),
    ...(score.measures && { measures: { ...score.measures } }),
  };
}

function isAnswerCard({ message_type, metadata }: ResultCard | ErrorCard): boolean {
  return message_type === "result" && ["completed", "success"].includes(metadata["status"]);
}

type ReplyScore = Pick<ScoreRecordInput, "gold" | "correct" | "rule" | "predicted" | "measures" | "outcome">;

/**
 * Scores the reply to a problem with the same rule for every method. Results with the status `completed` or
 * `success` contain an answer. A partial result counts as wrong, because its answer may be correct only by
 * chance.
 */
export function scoreReply(gold: string, reply: ResultCard | ErrorCard, scorer: AnswerScorer): ReplyScore {
  const { content } = reply;
  const isAnswer = isAnswerCard(reply);
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
