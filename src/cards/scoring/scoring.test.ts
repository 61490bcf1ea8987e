import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  findLastNumber,
  normalizeAnswer,
  scoreGsm8k,
  scoreHotpotQaAnswer,
  scoreHotpotQaJoint,
  scoreSupportingFacts,
  findStrictAnswer,
} from "./index.ts";

describe("the strict answer of GSM8K", () => {
  it.each([
    ["Janet sells 9 eggs.\n#### 18", "18"],
    ["A: 18", "18"],
    ["Answer: $1,200.50", "1200.50"],
    ["**Answer:** 18 dollars a day, for 9 eggs", "18"],
    ["ANSWER: **-7**.", "-7"],
    ["A: 3\nNo, wait.\nA: 4", "4"],
    ["#### -$5", "-5"],
    ["#### .5", ".5"],
    ["the answer is 18", undefined],
    ["Answer: eighteen", undefined],
    ["Answer: she makes 18", undefined],
    ["DNA: 18", undefined],
    ["", undefined],
  ])("of %j is %j", (text, answer) => {
    expect(findStrictAnswer(text)).toBe(answer);
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

describe("a GSM8K answer", () => {
  it("is compared by value", () => {
    for (const text of ["#### 1,200", "#### 1200.00", "A: $1200"])
      expect(scoreGsm8k(text, "1,200", "strict").correct).toBe(true);
    expect(scoreGsm8k("#### 0.30000000000000004", "0.3", "strict").correct).toBe(true);
  });

  it("is wrong if it only contains or approximates the gold answer", () => {
    expect(scoreGsm8k("A: 118", "18", "strict")).toEqual({ predicted: "118", correct: false });
    expect(scoreGsm8k("A: 18.01", "18", "strict").correct).toBe(false);
  });

  it("is wrong if it is missing", () => {
    expect(scoreGsm8k("I cannot say.", "0", "flexible")).toEqual({ predicted: undefined, correct: false });
    expect(scoreGsm8k("It is 18.", "18", "strict").correct).toBe(false);
    expect(scoreGsm8k("It is 18.", "18", "flexible").correct).toBe(true);
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
    const score = scoreHotpotQaAnswer("Westminster in London", "City of Westminster, London");
    expect(score).toMatchObject({ exact: 0, precision: 2 / 3, recall: 2 / 4 });
    expect(score.f1).toBeCloseTo(4 / 7, 12);
    expect(scoreHotpotQaAnswer("the Chief of Protocol.", "Chief of Protocol")).toMatchObject({
      exact: 1,
      f1: 1,
    });
  });

  it("counts a repeated word as often as both texts contain it", () => {
    expect(scoreHotpotQaAnswer("new new york", "new york new jersey")).toMatchObject({
      precision: 1,
      recall: 3 / 4,
    });
    expect(scoreHotpotQaAnswer("new new", "new")).toMatchObject({ precision: 1 / 2, recall: 1 });
  });

  it("receives no credit for a yes or no among other words", () => {
    expect(scoreHotpotQaAnswer("yes they are", "yes")).toEqual({ exact: 0, f1: 0, precision: 0, recall: 0 });
    expect(scoreHotpotQaAnswer("no", "no one")).toMatchObject({ f1: 0 });
    expect(scoreHotpotQaAnswer("Yes.", "yes")).toMatchObject({ exact: 1, f1: 1 });
  });

  it("receives no credit if it is empty", () => {
    expect(scoreHotpotQaAnswer("", "Ann")).toEqual({ exact: 0, f1: 0, precision: 0, recall: 0 });
    expect(scoreHotpotQaAnswer("the", "a")).toEqual({ exact: 1, f1: 0, precision: 0, recall: 0 });
  });

  it("has a joint score with supporting sentences", () => {
    const gold = [
      { title: "A", sentence: 0 },
      { title: "B", sentence: 1 },
    ];
    const facts = scoreSupportingFacts(
      [...gold, { title: "B", sentence: 2 }, { title: "C", sentence: 0 }],
      gold,
    );
    expect(facts).toMatchObject({ exact: 0, precision: 1 / 2, recall: 1 });
    expect(facts.f1).toBeCloseTo(2 / 3, 12);
    expect(scoreSupportingFacts(gold.toReversed(), gold)).toEqual({
      exact: 1,
      f1: 1,
      precision: 1,
      recall: 1,
    });
    expect(scoreSupportingFacts([], gold)).toEqual({ exact: 0, f1: 0, precision: 0, recall: 0 });
    const joint = scoreHotpotQaJoint(scoreHotpotQaAnswer("Ann", "Ann"), facts);
    expect(joint).toMatchObject({ exact: 0, precision: 1 / 2, recall: 1 });
    expect(joint.f1).toBeCloseTo(2 / 3, 12);
  });
});
