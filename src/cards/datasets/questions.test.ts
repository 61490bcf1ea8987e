import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeQuestions } from "./index.ts";

const list = (text: string, file: string, fields = {}): unknown[] =>
  decodeQuestions(text, file, fields).map(({ id, question, gold }) => [id, question, gold]);

describe("questions of a file", () => {
  it("are read from CSV with quoted fields, and numbered if an ID is missing or not allowed", () => {
    const text =
      '\uFEFFid,prompt,target\r\na-1,"How many, ""exactly""?\nPlease",18\r\n문제,Who?,Ann\r\n,Where?,Rome\r\n';
    expect(list(text, "mine.csv")).toEqual([
      ["q_a-1", 'How many, "exactly"?\nPlease', "18"],
      ["q_문제", "Who?", "Ann"],
      ["q_2", "Where?", "Rome"],
    ]);
  });

  it("have different IDs, also if the ID of one is the position of another", () => {
    const text = "id,question,answer\nfirst one,a,1\n0,b,2\n0,c,3\n";
    expect(list(text, "mine.csv")).toEqual([
      ["q_0", "a", "1"],
      ["q_1", "b", "2"],
      ["q_2", "c", "3"],
    ]);
  });

  it("survive a round trip through CSV", () => {
    const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    const field = fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "\r\n", " ", "é") });
    fc.assert(
      fc.property(fc.array(fc.tuple(field, field), { minLength: 1, maxLength: 5 }), (rows) => {
        const text = ["question,answer", ...rows.map((row) => row.map(quote).join(","))].join("\n");
        expect(decodeQuestions(text, "a.csv").map(({ question, gold }) => [question, gold])).toEqual(rows);
      }),
    );
  });

  it.each([
    ["JSON Lines", '{"input":"2+2?","output":4}\n{"input":"3+3?","output":6}\n', {}],
    ["a JSON array", '[{"q":"2+2?","a":4},{"q":"3+3?","a":6}]', { question: "q", answer: "a" }],
    [
      "rows of Hugging Face",
      '{"rows":[{"row":{"question":"2+2?","answer":"4"}},{"row":{"question":"3+3?","answer":"6"}}]}',
      {},
    ],
  ])("are read from %s", (_, text, fields) => {
    expect(list(text, "mine.json", fields)).toEqual([
      ["q_0", "2+2?", "4"],
      ["q_1", "3+3?", "6"],
    ]);
  });

  it("have documents as text, as pairs, or as the columns of HotpotQA", () => {
    const read = (context: unknown): unknown =>
      decodeQuestions(JSON.stringify([{ question: "?", answer: "!", context }]), "a.json")[0]?.paragraphs;
    const pairs = [{ title: "A", sentences: ["One.", "Two."] }];
    expect(read([["A", ["One.", "Two."]]])).toEqual(pairs);
    expect(read({ title: ["A"], sentences: [["One.", "Two."]] })).toEqual(pairs);
    expect(read("A text")).toEqual([{ title: "context", sentences: ["A text"] }]);
    expect(read(["A text"])).toEqual([{ title: "document 1", sentences: ["A text"] }]);
    expect(read(null)).toEqual([]);
    expect(() => read(7)).toThrow('"context" contains no documents; use texts, or pairs of a title');
  });

  it.each([
    [
      "a,b\n1,2\n",
      "mine.csv: the first record has no question. Name its column with --fields question=<name>.",
    ],
    ["question,answer\n1\n", "mine.csv, record 1: 1 fields, but the header has 2."],
    ['question,answer\na"b,c\n', "mine.csv: row 2 has a quotation mark inside a field."],
  ])("are rejected with the position, %#", (text, message) => {
    expect(() => decodeQuestions(text, "mine.csv")).toThrow(message);
  });
});
