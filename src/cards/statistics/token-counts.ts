import type { MessageCard, CardTokenUsage } from "../message-card/index.ts";

/** Sums of tokens. */
export interface TokenCounts {
  readonly input: number;
  readonly output: number;
  /** Input tokens that were read from a cache. */
  readonly cached: number;
  /** Output tokens that were used for reasoning. */
  readonly reasoning: number;
}

/** Token counts that are all 0. */
export const ZERO_TOKENS: TokenCounts = { input: 0, output: 0, cached: 0, reasoning: 0 };

/**
 * Converts a usage into token counts.
 * A usage of the source `none` may still contain the counts of those calls that reported them.
 */
export function toTokenCounts(usage: CardTokenUsage | undefined): TokenCounts {
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

/** Returns the token counts of several usages. */
export function sumUsageTokens(usages: Iterable<CardTokenUsage | undefined>): TokenCounts {
  let sum = ZERO_TOKENS;
  for (const usage of usages) sum = addTokenCounts(sum, toTokenCounts(usage));
  return sum;
}

/**
 * Returns the input and output tokens of a card: from `usage`, else from `tokens`. Returns `undefined` if the
 * card has neither.
 */
export function findCardTokenTotal({ metadata: { usage, tokens } }: MessageCard): number | undefined {
  return usage === undefined ? tokens : usage.input_tokens + usage.output_tokens;
}

/** Prices per million tokens. */
export interface TokenTariff {
  readonly input: number;
  readonly output: number;
  /** Price of cached input tokens. Default: the price of input tokens. */
  readonly cached?: number;
}

/** Returns the price of tokens in the currency of the tariff. */
export function computeTokenPrice({ input, output, cached }: TokenCounts, tariff: TokenTariff): number {
  const fresh = (input - cached) * tariff.input + cached * (tariff.cached ?? tariff.input);
  return (fresh + output * tariff.output) / 1_000_000;
}
