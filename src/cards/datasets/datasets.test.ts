import { describe, expect, it } from "vitest";
import {
  decodeGsm8k,
  decodeHotpotQa,
  decodeGsm8kSocraticFile,
  getGsm8kSlice,
  mergeSocraticSteps,
} from "./index.ts";

const PROBLEM = JSON.stringify({ question: "1 + 1?", answer: "It is <<1+1=2>>2.\n#### 2" });
const PARAGRAPHS = {
  question: "Who?",
  answer: "Ann",
  context: [["A", ["Ann did.", " She knew."]]],
};

describe("GSM8K", () => {
  it("includes 20 problems with their steps", () => {
    const slice = getGsm8kSlice();
    expect(slice.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, index) => `gsm8k_${index}`));
    expect(slice[0]).toMatchObject({
      dataset: "gsm8k",
      question: expect.stringMatching(/^Janet’s ducks lay 16 eggs per day\./),
      gold: "18",
      steps: [
        {
          question: "How many eggs does Janet sell?",
          text: "Janet sells 16 - 3 - 4 = <<16-3-4=9>>9 duck eggs a day.",
        },
        { question: "How much does Janet make at the farmers' market?" },
      ],
    });
    expect(slice.every(({ steps }) => steps.length >= 2)).toBe(true);
  });

  it("is parsed with or without a byte order mark, carriage returns, and a final newline", () => {
    const expected = [
      {
        dataset: "gsm8k",
        id: "gsm8k_0",
        question: "1 + 1?",
        gold: "2",
        solution: "It is <<1+1=2>>2.",
        steps: [],
      },
    ];
    for (const text of [PROBLEM, `\uFEFF${PROBLEM}\r\n`, `${PROBLEM}\n\n`])
      expect(decodeGsm8k(text, "test.jsonl")).toEqual(expected);
  });

  it.each([
    ["{", "test.jsonl:2: invalid JSON"],
    ["[]", "test.jsonl:2: a record must be a JSON object"],
    ['{"question":"?"}', 'test.jsonl:2: "answer" is not a string'],
    ['{"question":"?","answer":"2"}', 'test.jsonl:2: "answer" does not end with a line "#### <number>"'],
  ])("names the line of the malformed record %s", (line, message) => {
    expect(() => decodeGsm8k(`${PROBLEM}\n${line}`, "test.jsonl")).toThrow(message);
  });

  it("names the step that has no sub-question", () => {
    expect(() => decodeGsm8kSocraticFile(PROBLEM, "s.jsonl")).toThrow(
      /^s\.jsonl:1: the step "It is .*" has no sub-question/,
    );
  });

  it("is not merged with the steps of other problems", () => {
    const [first, second] = getGsm8kSlice();
    if (!first || !second) throw new Error("the slice is empty");
    expect(() => mergeSocraticSteps([first], [second])).toThrow(
      "gsm8k_0: the Socratic file has no problem or a different problem",
    );
    expect(() => mergeSocraticSteps([first, second], [first])).toThrow("gsm8k_1");
  });
});

describe("HotpotQA", () => {
  it("is parsed from the official list and from JSON Lines", () => {
    const records = [
      { _id: "5a7", ...PARAGRAPHS, type: "bridge", level: "hard" },
      { dev_index: 7, ...PARAGRAPHS },
      PARAGRAPHS,
    ];
    const samples = decodeHotpotQa(JSON.stringify(records), "dev.json");
    expect(samples.map(({ id }) => id)).toEqual(["hotpotqa_5a7", "hotpotqa_7", "hotpotqa_2"]);
    expect(samples[0]).toEqual({
      dataset: "hotpotqa",
      id: "hotpotqa_5a7",
      question: "Who?",
      gold: "Ann",
      paragraphs: [{ title: "A", sentences: ["Ann did.", " She knew."] }],
    });
    expect(decodeHotpotQa(records.map((record) => JSON.stringify(record)).join("\n"), "dev.jsonl")).toEqual(
      samples,
    );
  });

  it.each([
    [{ ...PARAGRAPHS, context: undefined }, '"context" is missing'],
    [{ ...PARAGRAPHS, context: [["A", 1]] }, '"context" contains no documents'],
    [{ ...PARAGRAPHS, answer: 1 }, '"answer" is not a string'],
  ])("names the record of a malformed member, %#", (record, message) => {
    expect(() => decodeHotpotQa(JSON.stringify([PARAGRAPHS, record]), "dev.json")).toThrow(
      `dev.json, record 2: ${message}`,
    );
  });

  it("is parsed from the rows of Hugging Face, whose paragraphs are columns", () => {
    const row = {
      ...PARAGRAPHS,
      id: "5a7",
      context: { title: ["A"], sentences: [["Ann did.", " She knew."]] },
    };
    expect(decodeHotpotQa(JSON.stringify({ rows: [{ row }] }), "rows.json")).toEqual([
      {
        dataset: "hotpotqa",
        id: "hotpotqa_5a7",
        question: "Who?",
        gold: "Ann",
        paragraphs: [{ title: "A", sentences: ["Ann did.", " She knew."] }],
      },
    ]);
  });

  it("rejects duplicate IDs", () => {
    const record = { _id: "5a7", ...PARAGRAPHS };
    expect(() => decodeHotpotQa(JSON.stringify([record, record]), "dev.json")).toThrow(
      "two records have the ID hotpotqa_5a7",
    );
  });
});
