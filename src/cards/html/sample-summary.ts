import { findCardTokenTotal, sumBy } from "../statistics/index.ts";
import type { PageSample, PageCard } from "./run-model.ts";

/** How a problem ended: scored right or wrong, not scored, or not begun. */
export type SampleOutcome = "correct" | "wrong" | "unscored" | "waiting";

/** What the list says of a problem. */
export interface SampleSummary {
  readonly outcome: SampleOutcome;
  /** The content of its first card. */
  readonly question: string;
  readonly cardCount: number;
  readonly tokenCount: number;
  readonly durationMs: number;
  readonly errorCount: number;
  /** Its last result is `isPartial`: a limit or a stop. */
  readonly isPartial: boolean;
}

export function summarizeSample({ cards, score }: PageSample): SampleSummary {
  const [first] = cards;
  const last = cards.findLast(({ card }) => card.message_type === "result");
  return {
    outcome: score ? (score.correct ? "correct" : "wrong") : first ? "unscored" : "waiting",
    question: first?.card.content ?? "",
    cardCount: cards.length,
    tokenCount: sumBy(cards, ({ card }) => countCardTokens(card)),
    durationMs: first ? computeLastArrival(cards) - first.sentMs : 0,
    errorCount: cards.filter(({ card }) => card.message_type === "error").length,
    isPartial: last?.card.metadata["status"] === "partial",
  };
}

/** Input and output tokens that a card tells. */
export function countCardTokens(card: PageCard["card"]): number {
  return findCardTokenTotal(card) ?? 0;
}

/** When the last of the cards arrived. */
export function computeLastArrival(cards: readonly PageCard[]): number {
  return cards.reduce((end, { arrivedMs: arrived }) => Math.max(end, arrived), Number.NEGATIVE_INFINITY);
}

/** What a card says of how things stand: its status, or the type of its error. */
export function findCardStatus({ metadata }: PageCard["card"]): string | undefined {
  const status = metadata["status"] ?? metadata["error_type"];
  return typeof status === "string" ? status : undefined;
}
