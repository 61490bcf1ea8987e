import { assert, constantFrom, dictionary, integer, option, property } from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addUsage,
  decodeModelPrices,
  formatPrice,
  type ModelLine,
  NO_USAGE,
  priceTrafficLine,
  priceTrafficLineText,
} from "../index.ts";
import { addModelLineUsage } from "./token-usage.ts";

const LINE: ModelLine = {
  v: 1,
  kind: "model",
  writer: "w",
  seq: 1,
  at: "2026-11-23T10:30:00.000Z",
  mono_ms: 1,
  call: "c1",
  model: "large",
  duration_ms: 1,
  input_tokens: 1_000_000,
  cached_input_tokens: 400_000,
  output_tokens: 200_000,
};

function decodePrices(models: unknown): ReturnType<typeof decodeModelPrices> {
  return decodeModelPrices({ currency: "EUR", models });
}

describe("the price of a model call", () => {
  it("is the sum of its new input, cached input, and output", () => {
    const prices = decodePrices({ large: { input: 2, cachedInput: 0.5, output: 10 } });
    expect(priceTrafficLine(LINE, prices)).toEqual({ ...LINE, price: 3.4, currency: "EUR" });
    const withoutCachePrice = decodePrices({ large: { input: 2, output: 10 } });
    expect(priceTrafficLine(LINE, withoutCachePrice).price).toBe(4);
  });

  it.each([
    ["with its provider", { "acme/large": 3, large: 2, "acme/*": 1 }, "acme", 3],
    ["without its provider", { large: 2, "acme/*": 1 }, "acme", 2],
    ["by the longest pattern", { "l*": 1, "lar*": 2, "*": 3 }, undefined, 2],
    ["by a pattern with its provider", { "acme/*": 1 }, "acme", 1],
    ["with another provider, if the line has none", { "acme/large": 1, "acme/small": 2 }, undefined, 1],
    ["not with one of several providers", { "acme/large": 1, "other/large": 2 }, undefined, undefined],
    ["not with the wrong provider", { "acme/large": 1 }, "other", undefined],
    ["not by the name of an inherited member", {}, undefined, undefined],
  ])("is found %s", (_, inputPrices, provider, price) => {
    const models = Object.fromEntries(
      Object.entries(inputPrices).map(([name, input]) => [name, { input, output: 0 }]),
    );
    const line = {
      ...LINE,
      ...(Object.keys(inputPrices).length === 0 && { model: "constructor" }),
      ...(provider !== undefined && { provider }),
      cached_input_tokens: 0,
    };
    expect(priceTrafficLine(line, decodePrices(models)).price).toBe(price);
  });

  it("does not replace a price, and needs tokens", () => {
    const prices = decodePrices({ large: { input: 2, output: 10 } });
    const priced = { ...LINE, price: 7 };
    expect(priceTrafficLine(priced, prices)).toBe(priced);
    const { output_tokens: _, ...withoutTokens } = LINE;
    expect(priceTrafficLine(withoutTokens, prices)).toBe(withoutTokens);
  });

  it("is added to the JSON text of a model line, and leaves other texts unchanged", () => {
    const prices = decodePrices({ large: { input: 2, output: 0 } });
    const text = JSON.stringify(LINE);
    expect(JSON.parse(priceTrafficLineText(text, prices))).toMatchObject({
      ...LINE,
      price: 2,
      currency: "EUR",
    });
    for (const other of [
      '{"kind":"turn"}',
      '{"kind":"model"',
      '{"kind":"turn","text":"{\\"kind\\":\\"model\\"}"}',
    ])
      expect(priceTrafficLineText(other, prices)).toBe(other);
  });
});

describe("a price file", () => {
  it.each([
    [[], "The prices must be a JSON object"],
    [{ currency: "euro", models: {} }, "currency must be a code"],
    [{ currency: "EUR", models: [] }, "models must be an object"],
    [{ currency: "EUR", models: { m: { input: 1 } } }, 'models["m"] must contain the prices'],
    [{ currency: "EUR", models: { m: { input: -1, output: 1 } } }, 'models["m"] must contain the prices'],
    [{ currency: "EUR", models: { m: { input: 1, output: 1, cached: 1 } } }, 'unknown member "cached"'],
  ])("that is %j is rejected", (json, problem) => {
    expect(() => decodeModelPrices(json)).toThrow(problem);
  });
});

describe("the usage of model calls", () => {
  it("shows prices by currency, and whether prices are missing", () => {
    const add = (sum: typeof NO_USAGE, line: Partial<ModelLine>): typeof NO_USAGE =>
      addModelLineUsage(sum, line);
    expect(formatPrice(NO_USAGE)).toBe("");
    expect(formatPrice(add(NO_USAGE, {}))).toBe("");
    const usd = add(NO_USAGE, { price: 0.5 });
    expect(formatPrice(usd)).toBe("$0.5000");
    expect(formatPrice(add(add(usd, { price: 2, currency: "EUR" }), {}))).toBe("≥ 2.0000 EUR + $0.5000");
  });

  it("does not depend on the order of the sum", () => {
    const usage = dictionary(constantFrom("USD", "EUR"), integer({ min: 0, max: 1_000 })).map((prices) => ({
      ...NO_USAGE,
      calls: 1,
      prices,
    }));
    assert(
      property(usage, usage, option(usage, { nil: NO_USAGE }), (a, b, c) => {
        expect(addUsage(addUsage(a, b), c)).toEqual(addUsage(c, addUsage(b, a)));
      }),
    );
  });
});
