import type { MessageCard, CardTokenUsage } from "../message-card/index.ts";
import { sumBy } from "./intervals.ts";

/** Sums of input, output, cached, and reasoning tokens. */
export interface TokenCounts {
  readonly input: number;
  readonly output: number;
  /** Number of input tokens that were read from a cache. */
  readonly cached: number;
  /** Number of output tokens that were used for reasoning. */
  readonly reasoning: number;
}

/** Token counts with the value 0 in every field. */
export const ZERO_TOKENS: TokenCounts = { input: 0, output: 0, cached: 0, reasoning: 0 };

/**
 * Converts the token usage of a message card or model call into token counts.
 * A token usage with the source `none` can still contain token counts from some model calls.
 */
export function convertUsageToTokenCounts(usage: CardTokenUsage | undefined): TokenCounts {
  if (!usage) return ZERO_TOKENS;
  return {
    input: usage.input_tokens,
    output: usage.output_tokens,
    cached: usage.cached_input_tokens ?? 0,
    reasoning: usage.reasoning_output_tokens ?? 0,
  };
}

/** Returns the sum of two token counts. */
export function addTokenCounts(a: TokenCounts, b: TokenCounts): TokenCounts {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cached: a.cached + b.cached,
    reasoning: a.reasoning + b.reasoning,
  };
}

/** Returns the sum of the token counts of several usages. */
export function sumUsageTokens(usages: Iterable<CardTokenUsage | undefined>): TokenCounts {
  let sum = ZERO_TOKENS;
  for (const usage of usages) sum = addTokenCounts(sum, convertUsageToTokenCounts(usage));
  return sum;
}

/**
 * Returns the number of input and output tokens of a message card, or `undefined` if the number is unknown.
 * The metadata member `usage` takes precedence over `tokens`.
 */
export function findCardTokenTotal({ metadata: { usage, tokens } }: MessageCard): number | undefined {
  return usage === undefined ? tokens : usage.input_tokens + usage.output_tokens;
}

/**
 * Returns the length of an answer in tokens: the reported output tokens without reasoning, or an estimate of
 * one token for four bytes of text.
 */
export function countAnswerTokens({ content, metadata: { usage } }: MessageCard): number {
  if (usage?.source === "reported") return usage.output_tokens - (usage.reasoning_output_tokens ?? 0);
  return Math.ceil(new TextEncoder().encode(content).length / 4);
}

/** Prices per million input, output, and cached tokens. */
export interface TokenTariff {
  readonly input: number;
  readonly output: number;
  /** Price per million cached input tokens. Default: the price of input tokens. */
  readonly cached?: number;
}

/** Returns the price of the counted tokens, in the currency of the tariff. */
export function computeTokenPrice({ input, output, cached }: TokenCounts, tariff: TokenTariff): number {
  const fresh = (input - cached) * tariff.input + cached * (tariff.cached ?? tariff.input);
  return (fresh + output * tariff.output) / 1_000_000;
}

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
