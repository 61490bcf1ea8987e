import { assert, constantFrom, jsonValue, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { countJsonValues, parseBoundedJson } from "./bounded-json.ts";

/** Counts the values and member names of a parsed value. An empty array or object counts twice. */
function countParsedValues(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  const items: unknown[] = Object.values(value);
  const names = Array.isArray(value) ? 0 : items.length;
  return items.reduce(
    (sum: number, item) => sum + countParsedValues(item),
    1 + names + (items.length === 0 ? 1 : 0),
  );
}

describe("the number of JSON values of a text", () => {
  it("equals the number of parsed values and member names", () => {
    assert(
      property(jsonValue(), constantFrom(0, 1, "\t"), (value, indent) => {
        expect(countJsonValues(JSON.stringify(value, undefined, indent), Infinity).values).toBe(
          countParsedValues(value),
        );
      }),
    );
  });

  it("ignores the structure inside of strings, also between escapes", () => {
    const anyText = string({ unit: constantFrom("\\", '"', ",", ":", "{", "[", "a", "b".repeat(20), "é") });
    assert(
      property(anyText, anyText, (name, text) => {
        expect(countJsonValues(JSON.stringify({ [name]: [text] }), Infinity).values).toBe(4);
      }),
    );
  });

  it("takes a number of steps that is linear in the length of any text", () => {
    const anyText = string({
      unit: constantFrom("\\", '"', ",", "[", "a", "b".repeat(20), "\\\\", " "),
      maxLength: 500,
    });
    assert(
      property(anyText, (text) => {
        expect(countJsonValues(text, Infinity).steps).toBeLessThanOrEqual(2 * text.length + 2);
      }),
    );
  });

  it("is counted only up to the limit", () => {
    const text = `[${"[],".repeat(1_000_000)}[]]`;
    expect(countJsonValues(text, 1_000).steps).toBeLessThanOrEqual(1_001);
  });
});

describe("JSON of a request", () => {
  it("is not parsed if it has more values and member names than the limit", () => {
    const members = Array.from({ length: 60 }, (_, at) => `"k${at}":0`).join(",");
    expect(() => parseBoundedJson(`{${members}}`, 100)).toThrow(
      "The request has more than 100 JSON values and member names (maxJsonValues); send large data as text, as bytes, or by URL.",
    );
    // The text is not JSON, so that parsing would fail with another error.
    expect(() => parseBoundedJson(`{${members}`, 100)).toThrow("maxJsonValues");
    expect(parseBoundedJson(`{${members}}`, 121)).toMatchObject({ k59: 0 });
  });

  it("may contain a long text with any number of commas", () => {
    const text = "1,2,[3],".repeat(100_000);
    expect(parseBoundedJson(JSON.stringify({ text }))).toEqual({ text });
  });
});
