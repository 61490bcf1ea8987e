import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { findPorterStem } from "./rouge-1.ts";

const words = readFileSync(new URL("../../../test/vectors/adk-eval/stems.txt", import.meta.url), "utf8")
  .split(/\s+/)
  .filter((pair) => pair !== "")
  .map((pair) => pair.split(":"));

it("finds the stems of NLTK", () => {
  expect(words.length).toBeGreaterThan(300);
  expect(words.map(([word = ""]) => [word, findPorterStem(word)])).toEqual(words);
});
