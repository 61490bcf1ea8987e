import type { MessageCard } from "../message-card/index.ts";
import { sumBy } from "./distribution.ts";
import { findCardTokenTotal, sumUsageTokens, type TokenCounts } from "./token-counts.ts";

/** Tokens of a list of message cards. All reports and tables compute tokens with `summarizeTokens`. */
export interface TokenSummary {
  /** Sum of the token counts from all message cards with the metadata member `usage`. */
  readonly sum: TokenCounts;
  /** Number of input and output tokens of all message cards, with or without the metadata member `usage`. */
  readonly total: number;
  /** Number of tokens that are estimates. */
  readonly estimated: number;
  /**
   * Number of message cards with unknown tokens (`usage.source` is `none`). If the number is greater than 0,
   * all token counts are lower bounds.
   */
  readonly unknownCards: number;
  /** Whether any message card reports tokens. */
  readonly isReported: boolean;
}

/** Computes the tokens of a list of message cards without duplicates. */
export function summarizeTokens(cards: readonly MessageCard[]): TokenSummary {
  const unknownCards = cards.filter(hasUnknownTokens).length;
  const total = sumBy(cards, (card) => findCardTokenTotal(card) ?? 0);
  return {
    sum: sumUsageTokens(cards.map(({ metadata }) => metadata.usage)),
    total,
    estimated: sumBy(cards, (card) =>
      card.metadata.usage?.source === "estimated" ? (findCardTokenTotal(card) ?? 0) : 0,
    ),
    unknownCards,
    isReported:
      total > 0 || cards.some((card) => findCardTokenTotal(card) !== undefined && !hasUnknownTokens(card)),
  };
}

function hasUnknownTokens({ metadata }: MessageCard): boolean {
  return metadata.usage?.source === "none";
}
