import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SharedTextDecoder } from "../shared-text-decoder.ts";
import { SharedTextEncoder } from "./shared-text-encoder.ts";

/** Encodes lines, and decodes the stored text again. */
function encodeAndDecode(lines: readonly string[]): { stored: string; decoded: string[] } {
  const encoder = new SharedTextEncoder();
  const decoder = new SharedTextDecoder();
  const stored = lines.map((line) => `${encoder.encode(line)}\n`).join("");
  const decoded = stored
    .split("\n")
    .slice(0, -1)
    .flatMap((line) => decoder.decode(line) ?? []);
  return { stored, decoded };
}

describe("the long texts of a record", () => {
  it("are stored once", () => {
    const text = "prompt ".repeat(100);
    const lines = [1, 2, 3].map((seq) =>
      JSON.stringify({ seq, prompt: { messages: [{ text }] }, reply: text }),
    );
    const { stored, decoded } = encodeAndDecode(lines);
    expect(decoded).toEqual(lines);
    expect(stored.split(text)).toHaveLength(2);
  });

  it("are restored in lines with any strings, also in names and with quotation marks", () => {
    const long = fc.string({ minLength: 150, maxLength: 400, unit: "binary" });
    const string = fc.oneof(fc.string(), long, fc.constant(`{"$text":"${"0".repeat(24)}"}`));
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(string, fc.oneof(string, fc.array(fc.oneof(string, fc.integer()))))),
        (objects) => {
          const lines = objects.map((object) => JSON.stringify({ v: 1, ...object }));
          expect(encodeAndDecode(lines).decoded).toEqual(lines);
        },
      ),
    );
  });
});
