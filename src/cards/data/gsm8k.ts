import { malformed, recordsOfLines, type DataRecord } from "./record.ts";
import type { GsmSample, GsmStep } from "./sample.ts";

/** Reads `test.jsonl` or `train.jsonl` of GSM8K. `file` is its name in errors. */
export function decodeGsm8k(text: string, file: string): GsmSample[] {
  return recordsOfLines(text, file).map((record, index) => ({
    ...decodeProblem(record, index),
    steps: [],
  }));
}

/** Reads `test_socratic.jsonl`: each line of an answer is `<sub-question> ** <step>`. */
export function decodeSocratic(text: string, file: string): GsmSample[] {
  return recordsOfLines(text, file).map((record, index) => {
    const problem = decodeProblem(record, index);
    return { ...problem, steps: problem.solution.split("\n").map((line) => decodeStep(line, record.where)) };
  });
}

/** The problems of the one with the steps of the other, which must be the same problems in the same order. */
export function joinSocratic(problems: readonly GsmSample[], socratic: readonly GsmSample[]): GsmSample[] {
  return problems.map((problem, index) => {
    const same = socratic[index];
    if (same?.question !== problem.question || same.gold !== problem.gold)
      throw malformed(problem.id, "the Socratic file has another problem, or none, at its place");
    return { ...problem, steps: same.steps };
  });
}

function decodeProblem(record: DataRecord, index: number): Omit<GsmSample, "steps"> {
  const answer = record.text("answer");
  const mark = answer.lastIndexOf("\n#### ");
  if (mark < 0) throw record.wrong("answer", 'has no last line "#### <number>"');
  return {
    dataset: "gsm8k",
    id: `gsm8k_${index}`,
    question: record.text("question"),
    gold: answer.slice(mark + "\n#### ".length).trim(),
    solution: answer.slice(0, mark),
  };
}

function decodeStep(line: string, where: string): GsmStep {
  const [question, ...text] = line.split(" ** ");
  if (question === undefined || text.length === 0)
    throw malformed(where, `the step ${JSON.stringify(line)} has no sub-question before " ** "`);
  return { question: question.trim(), text: text.join(" ** ").trim() };
}
