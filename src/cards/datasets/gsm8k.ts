import { createMalformedDataError, decodeJsonLines, type DataRecord } from "./questions.ts";
import type { Gsm8kSample, Gsm8kStep } from "./dataset-sample.ts";
import { GSM8K_SOCRATIC_JSONL, GSM8K_TEST_JSONL } from "./gsm8k-first-20.ts";

/** Parses GSM8K's `test.jsonl` or `train.jsonl`. `file` is the file name in error messages. */
export function decodeGsm8k(text: string, file: string): Gsm8kSample[] {
  return decodeJsonLines(text, file).map((record, index) => ({
    ...decodeGsm8kProblem(record, index),
    steps: [],
  }));
}

/**
 * Parses GSM8K's `test_socratic.jsonl`, where each line of an answer has the form `<sub-question> ** <step>`.
 */
export function decodeGsm8kSocraticFile(text: string, file: string): Gsm8kSample[] {
  return decodeJsonLines(text, file).map((record, index) => {
    const problem = decodeGsm8kProblem(record, index);
    return {
      ...problem,
      steps: problem.solution.split("\n").map((line) => decodeSocraticStep(line, record.location)),
    };
  });
}

/**
 * Adds the solution steps from the Socratic file to GSM8K problems. Throws if the two files do not contain
 * the same problems in the same order.
 */
export function mergeSocraticSteps(
  problems: readonly Gsm8kSample[],
  socratic: readonly Gsm8kSample[],
): Gsm8kSample[] {
  return problems.map((problem, index) => {
    const same = socratic[index];
    if (same?.question !== problem.question || same.gold !== problem.gold)
      throw createMalformedDataError(
        problem.id,
        "the Socratic file has no problem or a different problem at the same position",
      );
    return { ...problem, steps: same.steps };
  });
}

function decodeGsm8kProblem(record: DataRecord, index: number): Omit<Gsm8kSample, "steps"> {
  const answer = record.getString("answer");
  const mark = answer.lastIndexOf("\n#### ");
  if (mark < 0) throw record.createFieldError("answer", 'does not end with a line "#### <number>"');
  return {
    dataset: "gsm8k",
    id: `gsm8k_${index}`,
    question: record.getString("question"),
    gold: answer.slice(mark + "\n#### ".length).trim(),
    solution: answer.slice(0, mark),
  };
}

function decodeSocraticStep(line: string, where: string): Gsm8kStep {
  const [question, ...text] = line.split(" ** ");
  if (question === undefined || text.length === 0)
    throw createMalformedDataError(
      where,
      `the step ${JSON.stringify(line)} has no sub-question before " ** "`,
    );
  return { question: question.trim(), text: text.join(" ** ").trim() };
}

/**
 * Returns the first 20 problems of the GSM8K test split with their steps. The package includes these 20
 * problems.
 */
export function getGsm8kSlice(): Gsm8kSample[] {
  return mergeSocraticSteps(
    decodeGsm8k(GSM8K_TEST_JSONL, "the bundled GSM8K sample"),
    decodeGsm8kSocraticFile(GSM8K_SOCRATIC_JSONL, "the bundled Socratic GSM8K sample"),
  );
}
