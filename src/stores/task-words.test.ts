import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryCharacter } from "../../test/support/arbitrary-character.ts";
import type { Task } from "../protocol/index.ts";
import { listTaskWords, listWords, parseTextQuery, splitWords } from "./task-words.ts";

const createTask = (...texts: readonly string[]): Task => ({
  id: "t",
  contextId: "c",
  status: { state: "TASK_STATE_COMPLETED" },
  artifacts: texts.map((text, at) => ({ artifactId: `${at}`, parts: [{ text }] })),
});

describe("the words of a text", () => {
  it("have no case, no diacritics, and no compatibility characters", () => {
    expect(splitWords("The INVOICE of Zoë, İstanbul")).toEqual(["the", "invoice", "of", "zoe", "istanbul"]);
    expect(splitWords("STRASSE Straße ΟΔΟΣ οδός ﬁne")).toEqual([
      "strasse",
      "strasse",
      "οδοσ",
      "οδοσ",
      "fine",
    ]);
    expect(splitWords("हिन्दी 한국")).toEqual(["हिन्दी", "한국".normalize("NFKD")]);
  });

  it("are pairs of characters in scripts without spaces, and single characters for an index", () => {
    expect(splitWords("请检查iPhone订单")).toEqual(["请检", "检查", "iphone", "订单"]);
    expect(listWords("请检查x单")).toEqual(["请", "检", "查", "请检", "检查", "x", "单"]);
    expect(splitWords("ガード")).toEqual(["ガー", "ード"].map((pair) => pair.normalize("NFKD")));
    fc.assert(
      fc.property(fc.string({ unit: arbitraryCharacter }), (text) => {
        expect(listWords(text)).toEqual(expect.arrayContaining(splitWords(text)));
      }),
    );
  });

  it("contain no characters that a database could refuse", () => {
    expect(splitWords("a\0b \ud800c' \\d\u0001")).toEqual(["a", "b", "c", "d"]);
    fc.assert(
      fc.property(fc.string({ unit: arbitraryCharacter }), (text) => {
        for (const word of splitWords(text)) expect(word).toMatch(/^[\p{L}\p{M}\p{N}]{1,64}$/u);
      }),
    );
  });

  it("are the words of themselves, so that a search for a word finds its text", () => {
    const texts = fc.oneof(fc.string({ unit: arbitraryCharacter }), fc.string({ unit: "grapheme" }));
    fc.assert(
      fc.property(texts, (text) => {
        for (const word of splitWords(text)) expect(splitWords(word)).toEqual([word]);
      }),
    );
  });

  it("are cut after 64 characters", () => {
    const [word = ""] = splitWords("😀".repeat(9) + "𝔵".repeat(100));
    expect(word).toBe("x".repeat(64));
    expect(splitWords("𐐷".repeat(100))).toEqual(["𐐷".repeat(64)]);
  });
});

describe("the words of a task", () => {
  it("come from the first 32,768 characters, and are listed once", () => {
    const task = createTask("one two one", "x".repeat(32_752), "three four");
    expect(listTaskWords(task)).toEqual(["one", "two", "x".repeat(64), "three"]);
  });

  it("have a limited total length, also if their normal form is longer than the text", () => {
    // The normal form of this ligature has 18 characters.
    const texts = Array.from({ length: 3_000 }, (_, at) => `ﷺ${at}x`);
    const words = listTaskWords(createTask(texts.join(" ")));
    expect(words.reduce((sum, word) => sum + word.length, 0)).toBeLessThanOrEqual(65_536);
    expect(words.length).toBeGreaterThan(1_000);
  });
});

describe("a text query", () => {
  it("has whole words and the start of a word", () => {
    expect(parseTextQuery("Two wo")).toEqual({ words: ["two"], prefix: "wo" });
    expect(parseTextQuery(`a" OR b*`)).toEqual({ words: ["a", "or"], prefix: "b" });
    expect(parseTextQuery("?! ")).toBeUndefined();
  });
});
