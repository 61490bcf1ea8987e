import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  extractAnswer,
  findLastNumber,
  isPlaceholderText,
  normalizeAnswer,
  scoreAnswer,
  scoreHotpotQaAnswer,
} from "./index.ts";

describe("the answer in a reply", () => {
  it.each([
    // An answer after a marker.
    ["Janet sells 9 eggs.\n#### 18", "18", true],
    ["A: 18", "18", true],
    ["Answer: $1,200.50", "1200.50", true],
    ["**Answer:** 18 dollars a day, for 9 eggs", "18", true],
    ["ANSWER: **-7**.", "-7", true],
    ["A: 3\nNo, wait.\nA: 4", "4", true],
    ["#### -$5", "-5", true],
    ["#### .5", ".5", true],
    ["The answer is 18.", "18", true],
    ["So the answer is: **18**, because 9 * 2 = 18 and 16 - 7 = 9", "18", true],
    ["She sells 9. $\\boxed{18}$", "18", true],
    ["Answer: $\\boxed{\\$1{,}200}$ in 3 days", "1200", true],
    ["\\[ \\boxed{\\text{18}} \\]", "18", true],
    ["9개 * 2달러\n답: 18", "18", true],
    ["정답은 18달러입니다.", "18", true],
    ["答案：１８元", "18", true],
    ["Answer: \u22127", "-7", true],
    // Only the answer.
    ["18", "18", true],
    ["$18", "18", true],
    ["１８元", "18", true],
    ["18 dollars a day", "18", true],
    // An answer without a marker.
    ["She makes 9 * 2 = $18 every day.", "18", false],
    ["Answer: she makes 18", "18", false],
    ["DNA: 18", "18", false],
    ["Answer: eighteen", undefined, false],
    ["", undefined, false],
    // Thoughts are no answer.
    ["<think>Perhaps 999. Answer: 999</think>\nAnswer: 18", "18", true],
    ["Answer: 999</think>\n18", "18", true],
    ["<think>The answer is 999, but", undefined, false],
  ])("%j is the number %s (marked: %s)", (text, answer, isMarked) => {
    expect(extractAnswer(text, "number")).toEqual({ answer, isMarked });
  });

  it.each([
    ["Answer: a\nso\n**Answer:** Westminster, London\n", "Westminster, London", true],
    ["So the answer is Paris.", "Paris.", true],
    [" Westminster ", "Westminster", true],
    ["Both were born there.\nIt is Westminster", "Both were born there.\nIt is Westminster", false],
    ["Answer:", undefined, true],
  ])("%j is the text %j (marked: %s)", (text, answer, isMarked) => {
    expect(extractAnswer(text, "text")).toEqual({ answer, isMarked });
  });

  it.each([
    ["Answer: (B)", "B", true],
    ["The answer is C.", "C", true],
    ["D", "D", true],
    ["A", "A", true],
    ["A good idea is option (B) here, I think", "B", false],
    ["None of them", undefined, false],
  ])("%j is the choice %s (marked: %s)", (text, answer, isMarked) => {
    expect(extractAnswer(text, "choice")).toEqual({ answer, isMarked });
  });
});

describe("a placeholder", () => {
  it.each(["…", "...", '"…"', "Answer: …", "<…>", "TEXT", "**…**"])("is %j", (text) => {
    expect(isPlaceholderText(text)).toBe(true);
  });

  it.each(["18", "", "What is 3 * 4?", "Wait…", "text", "The answer"])("is not %j", (text) => {
    expect(isPlaceholderText(text)).toBe(false);
  });
});

describe("the last number of a text", () => {
  it.each([
    ["She makes 9 * 2 = $18 every day.", "18"],
    ["16-3", "3"],
    ["it fell to -3", "-3"],
    ["(-3)", "-3"],
    ["1,319 problems", "1319"],
    ["3,14", "14"],
    ["2.50", "2.50"],
    ["none", undefined],
  ])("%j → %j", (text, number) => {
    expect(findLastNumber(text)).toBe(number);
  });

  it("is the last written number, with or without separators", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), fc.string(), (number, before) => {
        const text = `${before} = ${number.toLocaleString("en-US")}.`;
        expect(Number(findLastNumber(text))).toBe(number);
      }),
    );
  });
});

describe("an answer", () => {
  it("is compared by value as a number", () => {
    for (const text of ["#### 1,200", "#### 1200.00", "A: $1200"])
      expect(scoreAnswer(text, "1,200", "number").correct).toBe(true);
    expect(scoreAnswer("#### 0.30000000000000004", "0.3", "number").correct).toBe(true);
  });

  it("is wrong if it only contains or approximates the gold answer", () => {
    expect(scoreAnswer("A: 118", "18", "number")).toMatchObject({ predicted: "118", correct: false });
    expect(scoreAnswer("A: 18.01", "18", "number").correct).toBe(false);
    expect(scoreAnswer("the new Paris", "Paris", "exact").correct).toBe(false);
  });

  it("is wrong if it or the gold answer is missing", () => {
    expect(scoreAnswer("I cannot say.", "0", "number")).toMatchObject({
      predicted: undefined,
      correct: false,
    });
    expect(scoreAnswer("I cannot say.", "unknown", "number").correct).toBe(false);
  });

  it("is compared as words or as a letter", () => {
    expect(scoreAnswer("Answer: the Paris!", "Paris", "exact")).toMatchObject({ correct: true });
    expect(scoreAnswer("Answer: Paris, France", "Paris", "f1")).toMatchObject({
      correct: false,
      measures: { em: 0, f1: 2 / 3 },
    });
    expect(scoreAnswer("I choose (B).", "B", "choice").correct).toBe(true);
  });
});

describe("a HotpotQA answer", () => {
  it.each([
    ["The Eiffel Tower!", "eiffel tower"],
    ["  A  man, a plan ", "man plan"],
    ["U.S.A.", "usa"],
    ["Theatre of an era", "theatre of era"],
    ["Éa the “n”", "éa “n”"],
    ["snake_the_case", "snakethecase"],
  ])("%j is normalized to %j", (text, normal) => {
    expect(normalizeAnswer(text)).toBe(normal);
  });

  it("is scored by shared words", () => {
    // 2 of 3 predicted words are correct, and 2 of 4 gold words are found.
    expect(scoreHotpotQaAnswer("Westminster in London", "City of Westminster, London")).toEqual({
      exact: 0,
      f1: expect.closeTo(4 / 7, 12),
    });
    expect(scoreHotpotQaAnswer("the Chief of Protocol.", "Chief of Protocol")).toMatchObject({
      exact: 1,
      f1: 1,
    });
  });

  it("counts a repeated word as often as both texts contain it", () => {
    expect(scoreHotpotQaAnswer("new new york", "new york new jersey").f1).toBeCloseTo(6 / 7, 12);
    expect(scoreHotpotQaAnswer("new new", "new").f1).toBeCloseTo(2 / 3, 12);
  });

  it("receives no credit for a yes or no among other words", () => {
    expect(scoreHotpotQaAnswer("yes they are", "yes")).toEqual({ exact: 0, f1: 0 });
    expect(scoreHotpotQaAnswer("no", "no one")).toMatchObject({ f1: 0 });
    expect(scoreHotpotQaAnswer("Yes.", "yes")).toMatchObject({ exact: 1, f1: 1 });
  });

  it("receives no credit if it is empty", () => {
    expect(scoreHotpotQaAnswer("", "Ann")).toEqual({ exact: 0, f1: 0 });
    expect(scoreHotpotQaAnswer("the", "a")).toEqual({ exact: 1, f1: 0 });
  });
});
