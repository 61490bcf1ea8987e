import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { replaceControlCharacters, truncateText } from "./text.ts";

describe("truncateText", () => {
  it("cuts between code points, and appends the end only to a text that was longer", () => {
    expect(truncateText("abc", 3, "…")).toBe("abc");
    expect(truncateText("abcd", 3, "…")).toBe("abc…");
    expect(truncateText("ab\u{1f600}c", 3, "…")).toBe("ab…");
  });

  it("returns a beginning of any well-formed text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(20), (text, length) => {
        const kept = truncateText(text, length);
        expect(text.startsWith(kept)).toBe(true);
        expect(kept.isWellFormed()).toBe(true);
        expect(kept.length).toBeGreaterThanOrEqual(Math.min(text.length, length - 1));
      }),
    );
  });
});

describe("replaceControlCharacters", () => {
  it("keeps tabs, line feeds, and joiners, and shows everything that a terminal would execute", () => {
    expect(replaceControlCharacters("a\tb\nc\u200dd")).toBe("a\tb\nc\u200dd");
    expect(replaceControlCharacters("\u001b[2J\r\u009b\u202e")).toBe("\u241b[2J\u240d\ufffd\ufffd");
  });
});
