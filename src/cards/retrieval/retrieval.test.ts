import { describe, expect, it } from "vitest";
import { Bm25Index } from "./bm25-index.ts";
import { ParagraphRanker, tokenizeWords } from "./index.ts";

const createWordWeights = (...words: string[]): Map<string, number> =>
  new Map(words.map((word) => [word, 1]));

describe("BM25", () => {
  it("ranks by rarity, then frequency, then length", () => {
    const index = new Bm25Index(["cat cat dog", "cat dog dog", "dog bird", "dog cat fish fish fish"]);
    // One text contains `bird`, and three texts contain `cat`.
    expect(index.rank(createWordWeights("cat", "bird"))[0]).toBe(2);
    // The word occurs twice in a short text, once in a short text, and once in a long text.
    expect(index.rank(createWordWeights("cat"))).toEqual([0, 1, 3, 2]);
  });

  it("keeps the order of texts if the query matches none", () => {
    expect(new Bm25Index(["b", "a", "c"]).rank(createWordWeights("x"))).toEqual([0, 1, 2]);
    expect(new Bm25Index([]).rank(createWordWeights("x"))).toEqual([]);
    expect(new Bm25Index(["", ""]).rank(createWordWeights("x"))).toEqual([0, 1]);
  });

  it("supports words of all scripts and ignores stop words", () => {
    expect(tokenizeWords("Who is the Director of “Amélie” (2001)? 감독은 누구")).toEqual([
      "director",
      "amélie",
      "2001",
      "감독은",
      "누구",
    ]);
  });
});

describe("the paragraph ranker", () => {
  const inception = { title: "Inception", sentences: ["Inception is a film directed by Christopher Nolan."] };
  const birthplaces = {
    title: "Birthplace",
    sentences: ["A birthplace is a place.", " It is on a document."],
  };
  const nolan = { title: "Christopher Nolan", sentences: ["Christopher Nolan was born in Westminster."] };
  const router = new ParagraphRanker([birthplaces, nolan, inception]);
  const question = "What is the birthplace of the director of Inception?";

  it("selects the paragraph that the question names", () => {
    expect(router.rankByQuestion(question).map(({ title }) => title)).toEqual([
      "Birthplace",
      "Inception",
      "Christopher Nolan",
    ]);
  });

  it("then selects the paragraph that the first one names, and never the first one again", () => {
    expect(router.rankSecondHop("Who directed Inception?", inception).map(({ title }) => title)).toEqual([
      "Christopher Nolan",
      "Birthplace",
    ]);
  });
});
