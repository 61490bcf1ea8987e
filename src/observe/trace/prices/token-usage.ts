import type { ModelLine } from "../traffic-line-types.ts";

/** Tokens and prices of model calls. */
export interface TokenUsage {
  readonly calls: number;
  /** Tokens of the prompts, including cached tokens. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Number of calls that reported no input tokens or no output tokens. */
  readonly callsWithoutTokens: number;
  /** Sum of the known prices by currency code, for example `{ USD: 0.0123 }`. */
  readonly prices: Readonly<Record<string, number>>;
  /** Number of calls whose price is not known. */
  readonly callsWithoutPrice: number;
}

export const NO_USAGE: TokenUsage = {
  calls: 0,
  inputTokens: 0,
  outputTokens: 0,
  callsWithoutTokens: 0,
  prices: {},
  callsWithoutPrice: 0,
};

/** Adds two usages. */
export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    calls: a.calls + b.calls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    callsWithoutTokens: a.callsWithoutTokens + b.callsWithoutTokens,
    prices: addPrices(a.prices, b.prices),
    callsWithoutPrice: a.callsWithoutPrice + b.callsWithoutPrice,
  };
}

/** Adds the tokens and the price of a model call to a sum. */
export function addModelLineUsage(
  sum: TokenUsage,
  {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    price,
    currency = "USD",
  }: Pick<ModelLine, "input_tokens" | "output_tokens" | "price" | "currency">,
): TokenUsage {
  return addUsage(sum, {
    calls: 1,
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    callsWithoutTokens: inputTokens === undefined || outputTokens === undefined ? 1 : 0,
    prices: price === undefined ? {} : { [currency]: price },
    callsWithoutPrice: price === undefined ? 1 : 0,
  });
}

/**
 * Formats the tokens of a usage, for example `1,550`, or `1,240 + 310` as input and output. The number is a lower bound,
 * such as `≥ 1,550`, if calls reported no tokens, and `–` if no call reported tokens.
 */
export function formatTokens(
  usage: Omit<TokenUsage, "prices" | "callsWithoutPrice">,
  isSplit = false,
): string {
  const { inputTokens, outputTokens, callsWithoutTokens, calls } = usage;
  const total = inputTokens + outputTokens;
  if (total === 0 && (callsWithoutTokens > 0 || calls === 0)) return "–";
  const counts = isSplit ? [inputTokens, outputTokens] : [total];
  const sum = counts.map((count) => count.toLocaleString("en-US")).join(" + ");
  return `${callsWithoutTokens > 0 ? "≥ " : ""}${sum}`;
}

/**
 * Formats the known price of a usage, for example `$0.0123` or `≥ 0.5000 EUR` if the price of a call is unknown. Returns
 * an empty string if no price is known.
 */
export function formatPrice({
  prices,
  callsWithoutPrice,
}: Pick<TokenUsage, "prices" | "callsWithoutPrice">): string {
  const sums = Object.entries(prices)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, amount]) =>
      currency === "USD" ? `$${amount.toFixed(4)}` : `${amount.toFixed(4)} ${currency}`,
    );
  return sums.length === 0 ? "" : `${callsWithoutPrice > 0 ? "≥ " : ""}${sums.join(" + ")}`;
}

function addPrices(a: TokenUsage["prices"], b: TokenUsage["prices"]): TokenUsage["prices"] {
  const currencies = Object.keys(b);
  if (currencies.length === 0) return a;
  const sum: Record<string, number> = { ...a };
  for (const currency of currencies) sum[currency] = (sum[currency] ?? 0) + (b[currency] ?? 0);
  return sum;
}
