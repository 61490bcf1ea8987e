import { recordsOfLines } from "./record.ts";

/** The four models of 2021 whose answers OpenAI published with GSM8K. */
export const RECORDED_MODELS = [
  "6b_finetuning",
  "6b_verification",
  "175b_finetuning",
  "175b_verification",
] as const;

export type RecordedModel = (typeof RECORDED_MODELS)[number];

/** What the four answered to one problem. */
export interface RecordedSample {
  /** As of the problem in `test.jsonl`. */
  readonly id: string;
  readonly question: string;
  readonly answers: Readonly<Record<RecordedModel, RecordedAnswer>>;
}

export interface RecordedAnswer {
  /** The solution, which ends `A: <number>`. */
  readonly text: string;
  /** As its authors judged it. */
  readonly correct: boolean;
}

/** Reads `example_model_solutions.jsonl`. */
export function decodeRecorded(text: string, file: string): RecordedSample[] {
  return recordsOfLines(text, file).map((record, index) => {
    const answerOf = (model: RecordedModel): RecordedAnswer => {
      const answer = record.inner(model);
      return { text: answer.text("solution"), correct: answer.flag("is_correct") };
    };
    return {
      id: `gsm8k_${index}`,
      question: record.text("question"),
      answers: {
        "6b_finetuning": answerOf("6b_finetuning"),
        "6b_verification": answerOf("6b_verification"),
        "175b_finetuning": answerOf("175b_finetuning"),
        "175b_verification": answerOf("175b_verification"),
      },
    };
  });
}
