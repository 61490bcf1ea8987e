import { isObject } from "../../../protocol/index.ts";

/** Price of a model, for one million tokens. */
export interface ModelPrice {
  readonly input: number;
  /** Price of the tokens that the provider reads from its cache. Default: the price of other input. */
  readonly cachedInput?: number;
  readonly output: number;
}

/**
 * Prices of language models, which `decodeModelPrices` reads from a JSON file:
 *
 * ```json
 * { "currency": "EUR", "models": { "acme/large-*": { "input": 2.5, "cachedInput": 0.5, "output": 10 } } }
 * ```
 *
 * A name is `provider/model` or the model alone. A name that ends in `*` applies to all models that begin with it.
 */
export interface ModelPrices {
  /** Currency code of ISO 4217, for example `USD`. */
  readonly currency: string;
  /** Prices by the name of the model. */
  readonly models: ReadonlyMap<string, ModelPrice>;
}

const PRICE_MEMBERS: ReadonlySet<string> = new Set(["input", "cachedInput", "output"]);

/** Decodes the content of a price file. Throws a `TypeError` that names the invalid member. */
export function decodeModelPrices(json: unknown): ModelPrices {
  if (!isObject(json)) throw new TypeError("The prices must be a JSON object with currency and models.");
  const { currency, models } = json;
  if (typeof currency !== "string" || !/^[A-Z]{3}$/.test(currency))
    throw new TypeError('currency must be a code of three capital letters, such as "USD".');
  if (!isObject(models)) throw new TypeError("models must be an object with a price for each model.");
  return {
    currency,
    models: new Map(Object.entries(models).map(([name, price]) => [name, decodeModelPrice(name, price)])),
  };
}

function decodeModelPrice(name: string, price: unknown): ModelPrice {
  const place = `models[${JSON.stringify(name)}]`;
  if (!isObject(price)) throw new TypeError(`${place} must be an object with input and output.`);
  const unknownMember = Object.keys(price).find((member) => !PRICE_MEMBERS.has(member));
  if (unknownMember !== undefined)
    throw new TypeError(
      `${place} has the unknown member ${JSON.stringify(unknownMember)}; use input, cachedInput, and output.`,
    );
  const { input, cachedInput, output } = price;
  if (!isPrice(input) || !isPrice(output) || (cachedInput !== undefined && !isPrice(cachedInput)))
    throw new TypeError(
      `${place} must contain the prices of one million tokens as numbers: input, output, and optionally cachedInput.`,
    );
  return { input, output, ...(cachedInput !== undefined && { cachedInput }) };
}

function isPrice(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
