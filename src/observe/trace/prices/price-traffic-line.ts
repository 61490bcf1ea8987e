import { decodeTrafficLine } from "../traffic-line-codec.ts";
import type { ModelLine, TrafficLine } from "../traffic-line-types.ts";
import type { ModelPrice, ModelPrices } from "./model-prices.ts";

const TOKENS_PER_PRICE = 1_000_000;

/**
 * Returns a copy of a model line with its price. Other lines, lines that already have a price, lines without tokens, and
 * lines of models without a price are returned unchanged.
 */
export function priceTrafficLine<Line extends TrafficLine>(line: Line, prices: ModelPrices): Line {
  if (line.kind !== "model" || line.price !== undefined) return line;
  const price = findModelPrice(line, prices);
  const { input_tokens: input, cached_input_tokens: cached = 0, output_tokens: output } = line;
  if (!price || input === undefined || output === undefined) return line;
  const amount =
    (Math.max(0, input - cached) * price.input +
      cached * (price.cachedInput ?? price.input) +
      output * price.output) /
    TOKENS_PER_PRICE;
  return { ...line, price: amount, currency: prices.currency };
}

/** Adds the price to the JSON text of a model line. Other texts are returned unchanged. */
export function priceTrafficLineText(text: string, prices: ModelPrices): string {
  if (!text.includes('"kind":"model"')) return text;
  const decoded = decodeTrafficLine(text);
  return decoded.type === "traffic" ? JSON.stringify(priceTrafficLine(decoded.line, prices)) : text;
}

/**
 * Finds the price of a model. The exact name with its provider precedes the exact name, and exact names precede the
 * longest name that ends in `*`. If the line has no provider, a name with any provider is enough, if only one name fits.
 */
export function findModelPrice(
  { provider, model }: Pick<ModelLine, "provider" | "model">,
  { models }: ModelPrices,
): ModelPrice | undefined {
  const names = provider === undefined ? [model] : [`${provider}/${model}`, model];
  for (const name of names) {
    const price = models.get(name);
    if (price) return price;
  }
  const patterns = [...models.keys()]
    .filter((name) => name.endsWith("*"))
    .toSorted((a, b) => b.length - a.length);
  const matchesPattern = (pattern: string): boolean =>
    names.some((name) => name.startsWith(pattern.slice(0, -1)));
  const pattern = patterns.find(matchesPattern);
  if (pattern !== undefined) return models.get(pattern);
  if (provider !== undefined) return undefined;
  const withOtherProvider = [...models].filter(([name]) => name.endsWith(`/${model}`));
  return withOtherProvider.length === 1 ? withOtherProvider[0]?.[1] : undefined;
}
