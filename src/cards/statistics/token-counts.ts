import type { MessageCard, CardTokenUsage } from "../message-card/index.ts";

/** Tokens, added up. */
export interface TokenCounts {
  readonly input: number;
  readonly output: number;
  /** Of the input, from a cache. */
  readonly cached: number;
  /** Of the output, thought and not said. */
  readonly reasoning: number;
}

export const ZERO_TOKENS: TokenCounts = { input: 0, output: 0, cached: 0, reasoning: 0 };

/** What a usage tells; of several calls of which one told nothing (`none`), what the others told. */
export function toTokenCounts(usage: CardTokenUsage | undefined): TokenCounts {
  if (!usage) return ZERO_TOKENS;
  return {
    input: usage.input_tokens,
    output: usage.output_tokens,
    cached: usage.cached_input_tokens ?? 0,
    reasoning: usage.reasoning_output_tokens ?? 0,
  };
}

export function addTokenCounts(a: TokenCounts, b: TokenCounts): TokenCounts {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cached: a.cached + b.cached,
    reasoning: a.reasoning + b.reasoning,
  };
}

export function sumUsageTokens(usages: Iterable<CardTokenUsage | undefined>): TokenCounts {
  let sum = ZERO_TOKENS;
  for (const usage of usages) sum = addTokenCounts(sum, toTokenCounts(usage));
  return sum;
}

/** Input and output of a card; of cards that only have `tokens`, those. `undefined` where it tells neither. */
export function findCardTokenTotal({ metadata: { usage, tokens } }: MessageCard): number | undefined {
  return usage === undefined ? tokens : usage.input_tokens + usage.output_tokens;
}

/** Prices for a million tokens. */
export interface TokenTariff {
  readonly input: number;
  readonly output: number;
  /** Of input from a cache; that of other input unless told. */
  readonly cached?: number;
}

/** What tokens cost, in the tariff's currency. */
export function computeTokenPrice({ input, output, cached }: TokenCounts, tariff: TokenTariff): number {
  const fresh = (input - cached) * tariff.input + cached * (tariff.cached ?? tariff.input);
  return (fresh + output * tariff.output) / 1_000_000;
}
