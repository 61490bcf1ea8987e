import {
  findCardTokenTotal,
  getScoreOutcome,
  type MessageCard,
  summarizeTokens,
  type TokenSummary,
} from "../../../../cards/index.ts";
import type { PageSample, PageCard } from "./run-model.ts";

/** Outcome of a problem: scored as correct or wrong, skipped, not scored, or not started. */
type SampleOutcome = "correct" | "wrong" | "skipped" | "unscored" | "waiting";

/** Summary of a problem in the list of problems. */
export interface SampleSummary {
  readonly outcome: SampleOutcome;
  /** Content of the first message card, which is the question. */
  readonly question: string;
  readonly cardCount: number;
  readonly tokens: TokenSummary;
  readonly durationMs: number;
  readonly errorCount: number;
  /**
   * Whether the last result has the status `partial`. This status means that a limit or a `stop` card ended
   * the work early.
   */
  readonly isPartial: boolean;
}

export function summarizeSample({ timedCards: cards, score, skip }: PageSample): SampleSummary {
  const [first] = cards;
  const last = cards.findLast(({ card }) => card.message_type === "result");
  return {
    outcome: score
      ? score.correct
        ? "correct"
        : "wrong"
      : skip
        ? "skipped"
        : first
          ? "unscored"
          : "waiting",
    question: first?.card.content ?? "",
    cardCount: cards.length,
    tokens: summarizeTokens(cards.map(({ card }) => card)),
    durationMs: first ? Math.max(...cards.map(({ arrivedMs }) => arrivedMs)) - first.sentMs : 0,
    errorCount: cards.filter(({ card }) => card.message_type === "error").length,
    isPartial: last?.card.metadata["status"] === "partial",
  };
}

/**
 * Returns the number of input and output tokens of a message card, or 0 if the card does not report tokens.
 */
export function countCardTokens(card: PageCard["card"]): number {
  return findCardTokenTotal(card) ?? 0;
}

/** Returns the status or the error type of a message card. */
export function findCardStatusOrErrorType({ metadata }: PageCard["card"]): string | undefined {
  const status = metadata["status"] ?? metadata["error_type"];
  return typeof status === "string" ? status : undefined;
}

/**
 * Returns the roles that sent or received message cards. The core roles come first, in the order of
 * delegation. Custom roles follow in the order of their first message card.
 */
export function listRolesInCards(cards: Iterable<Pick<MessageCard, "sender" | "recipient">>): string[] {
  const roles = new Set<string>();
  for (const { sender, recipient } of cards) roles.add(sender).add(recipient);
  const first = ["controller", "planner", "solver"].filter((role) => roles.has(role));
  return [...new Set([...first, ...roles])];
}

/** Criteria that filter the problems of the page. An empty string disables a criterion. */
export interface CardFilter {
  /** Case-insensitive search text for problem IDs, answers, and message card contents. */
  readonly text: string;
  /** A key of `OUTCOME_LABELS`, or an outcome in a score, such as `timeout`. */
  readonly outcome: string;
}

export const OUTCOME_LABELS: Readonly<Record<string, string>> = {
  "": "any outcome",
  correct: "correct",
  wrong: "wrong",
  unscored: "not scored",
  errors: "with errors",
  partial: "partial",
};

export function matchesSample(sample: PageSample, { outcome, text }: CardFilter): boolean {
  return (outcome === "" || matchesOutcome(sample, outcome)) && matchesSampleText(sample, text);
}

function matchesOutcome(sample: PageSample, wanted: string): boolean {
  const { outcome, errorCount, isPartial } = summarizeSample(sample);
  if (wanted === "errors") return errorCount > 0;
  if (wanted === "partial" && isPartial) return true;
  if (wanted === "unscored") return ["unscored", "waiting", "skipped"].includes(outcome);
  return outcome === wanted || (sample.score !== undefined && getScoreOutcome(sample.score) === wanted);
}

function matchesSampleText(sample: PageSample, wanted: string): boolean {
  const text = wanted.trim().toLowerCase();
  return (
    text === "" ||
    includesIgnoringCase(sample.id ?? "", text) ||
    includesIgnoringCase(sample.score?.gold ?? "", text) ||
    includesIgnoringCase(sample.score?.predicted ?? "", text) ||
    sample.timedCards.some(({ card }) => includesIgnoringCase(card.content, text))
  );
}

function includesIgnoringCase(text: string, part: string): boolean {
  return text.toLowerCase().includes(part);
}
