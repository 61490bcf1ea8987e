import { describe, expect, it } from "vitest";
import { Bm25Index } from "./bm25-index.ts";
import { ParagraphRanker, tokenizeWords } from "./index.ts";

const createWordWeights = (...words: string[]): Map<string, number> =>
  new Map(words.map((word) => [word, 1]));

describe("BM25", () => {
  it("scores as by hand: rarity before frequency, frequency before length", () => {
    const index = new Bm25Index(["cat cat dog", "cat dog dog", "dog bird", "dog cat fish fish fish"]);
    // `bird` is in one text, `cat` in three.
    expect(index.rank(createWordWeights("cat", "bird"))[0]).toBe(2);
    // Twice in a short text, once in a short one, once in a long one.
    expect(index.rank(createWordWeights("cat"))).toEqual([0, 1, 3, 2]);
  });

  it("leaves texts in their order where a query says nothing", () => {
    expect(new Bm25Index(["b", "a", "c"]).rank(createWordWeights("x"))).toEqual([0, 1, 2]);
    expect(new Bm25Index([]).rank(createWordWeights("x"))).toEqual([]);
    expect(new Bm25Index(["", ""]).rank(createWordWeights("x"))).toEqual([0, 1]);
  });

  it("knows the words of all scripts, and not those that are everywhere", () => {
    expect(tokenizeWords("Who is the Director of “Amélie” (2001)? 감독은 누구")).toEqual([
      "director",
      "amélie",
      "2001",
      "감독은",
      "누구",
    ]);
  });
});

describe("the router", () => {
  const inception = { title: "Inception", sentences: ["Inception is a film directed by Christopher Nolan."] };
  const birthplaces = {
    title: "Birthplace",
    sentences: ["A birthplace is a place.", " It is on a document."],
  };
  const nolan = { title: "Christopher Nolan", sentences: ["Christopher Nolan was born in Westminster."] };
  const router = new ParagraphRanker([birthplaces, nolan, inception]);
  const question = "What is the birthplace of the director of Inception?";

  it("by the question alone goes to what the question names", () => {
    expect(router.rankByQuestion(question).map(({ title }) => title)).toEqual([
      "Birthplace",
      "Inception",
      "Christopher Nolan",
    ]);
  });

  it("after the first paragraph goes on to what that one names, and never back", () => {
    expect(router.rankSecondHop("Who directed Inception?", inception).map(({ title }) => title)).toEqual([
      "Christopher Nolan",
      "Birthplace",
    ]);
  });
});
