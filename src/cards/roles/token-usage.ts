import type { CardTokenUsage } from "../index.ts";

/** Token usage of a model call that reports no token counts. */
export const NO_USAGE: CardTokenUsage = { input_tokens: 0, output_tokens: 0, source: "none" };

const USAGE_SOURCES = ["none", "estimated", "reported"] as const;

/** Returns the sum of two token usages. If the sources differ, the sum has the less reliable source. */
export function addUsage(first: CardTokenUsage | undefined, second: CardTokenUsage): CardTokenUsage {
  if (!first) return second;
  const sum: CardTokenUsage = {
    input_tokens: first.input_tokens + second.input_tokens,
    output_tokens: first.output_tokens + second.output_tokens,
    source:
      USAGE_SOURCES[Math.min(USAGE_SOURCES.indexOf(first.source), USAGE_SOURCES.indexOf(second.source))] ??
      "none",
  };
  for (const name of ["cached_input_tokens", "reasoning_output_tokens"] as const) {
    if (first[name] !== undefined || second[name] !== undefined)
      sum[name] = (first[name] ?? 0) + (second[name] ?? 0);
  }
  return sum;
}

/** Returns the sum of input and output tokens, or 0 if the usage is unknown. */
export function sumInputAndOutputTokens(usage: CardTokenUsage | undefined): number {
  return usage ? usage.input_tokens + usage.output_tokens : 0;
}
