import { findCardTokenTotal, summarizeTokens, type TokenSummary } from "../../../../cards/index.ts";
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
    durationMs: first ? computeLastArrivalTime(cards) - first.sentMs : 0,
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

/** Returns the time when the last message card arrived. */
export function computeLastArrivalTime(cards: readonly PageCard[]): number {
  return cards.reduce((end, { arrivedMs }) => Math.max(end, arrivedMs), Number.NEGATIVE_INFINITY);
}

/** Returns the status or the error type of a message card. */
export function findCardStatusOrErrorType({ metadata }: PageCard["card"]): string | undefined {
  const status = metadata["status"] ?? metadata["error_type"];
  return typeof status === "string" ? status : undefined;
}
