import type { PageSample, SeenCard } from "./run-model.ts";

/** How a problem ended: scored right or wrong, not scored, or not begun. */
export type Outcome = "correct" | "wrong" | "unscored" | "waiting";

/** What the list says of a problem. */
export interface SampleSummary {
  readonly outcome: Outcome;
  /** The content of its first card. */
  readonly question: string;
  readonly cards: number;
  readonly tokens: number;
  readonly ms: number;
  readonly errors: number;
  /** Its last result is `partial`: a limit or a stop. */
  readonly partial: boolean;
}

export function summaryOf({ cards, score }: PageSample): SampleSummary {
  const [first] = cards;
  const last = cards.findLast(({ card }) => card.message_type === "result");
  return {
    outcome: score ? (score.correct ? "correct" : "wrong") : first ? "unscored" : "waiting",
    question: first?.card.content ?? "",
    cards: cards.length,
    tokens: cards.reduce((sum, { card }) => sum + tokensOf(card), 0),
    ms: first ? endOf(cards) - first.sent : 0,
    errors: cards.filter(({ card }) => card.message_type === "error").length,
    partial: last?.card.metadata["status"] === "partial",
  };
}

/** Input and output tokens that a card tells. */
export function tokensOf({ metadata: { usage, tokens } }: SeenCard["card"]): number {
  if (usage) return usage.source === "none" ? 0 : usage.input_tokens + usage.output_tokens;
  return tokens ?? 0;
}

/** When the last of the cards arrived. */
export function endOf(cards: readonly SeenCard[]): number {
  return cards.reduce((end, { arrived }) => Math.max(end, arrived), Number.NEGATIVE_INFINITY);
}

/** What a card says of how things stand: its status, or the type of its error. */
export function statusOf({ metadata }: SeenCard["card"]): string | undefined {
  const status = metadata["status"] ?? metadata["error_type"];
  return typeof status === "string" ? status : undefined;
}
