import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryCharacter } from "../../../test/support/arbitrary-character.ts";
import { stringifyResult } from "../result-reply.ts";
import { countRuns } from "../../../test/support/count-runs.ts";

const LARGE = 3 * 1024 * 1024;

/** Texts that are long after repetition, with characters that JSON escapes and with unpaired surrogates. */
const longText = fc
  .tuple(
    fc.string({ unit: arbitraryCharacter, minLength: 1, maxLength: 7 }),
    fc.constantFrom("", "\ud83d", "😀", '"\\\n'),
  )
  .map(([text, end]) => (text + end).repeat(Math.ceil(LARGE / (text + end).length)));

describe("stringifyResult", () => {
  it("serializes a small value at once", () => {
    expect(stringifyResult({ task: { id: "t", artifacts: [] }, absent: undefined })).toBe(
      '{"task":{"id":"t","artifacts":[]}}',
    );
  });

  it("serializes large values like JSON.stringify", async () => {
    await fc.assert(
      fc.asyncProperty(longText, fc.jsonValue({ maxDepth: 3 }), async (text, json) => {
        const value = {
          before: json,
          parts: [{ text }, json, undefined, { [text.slice(0, 50)]: [text, json] }],
        };
        expect([await stringifyResult(value)].flat().join("") === JSON.stringify(value)).toBe(true);
      }),
      { numRuns: countRuns(3, 16) },
    );
  });

  it("lets other work run while it serializes a large value", async () => {
    const order: string[] = [];
    const serialized = Promise.resolve(stringifyResult({ text: "x".repeat(LARGE) }));
    void serialized.then(() => order.push("serialized"));
    setImmediate(() => order.push("other work"));
    await serialized;
    expect(order).toEqual(["other work", "serialized"]);
  });

  it("serializes a value of many small members in steps", async () => {
    const value = Array.from({ length: 300_000 }, (_, at) => ({ at: `${at}` }));
    const text = stringifyResult(value);
    expect(text).toBeInstanceOf(Promise);
    const pieces = [await text].flat();
    expect(pieces.join("") === JSON.stringify(value)).toBe(true);
    expect(pieces.length).toBeLessThan(200);
  });
});
