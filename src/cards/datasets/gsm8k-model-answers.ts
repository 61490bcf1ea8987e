import { decodeJsonLines } from "./data-record.ts";

/** The four models of 2021 whose answers OpenAI published with GSM8K. */
export const GSM8K_ANSWER_MODELS = [
  "6b_finetuning",
  "6b_verification",
  "175b_finetuning",
  "175b_verification",
] as const;

export type Gsm8kAnswerModel = (typeof GSM8K_ANSWER_MODELS)[number];

/** What the four answered to one problem. */
export interface Gsm8kModelAnswers {
  /** As of the problem in `test.jsonl`. */
  readonly id: string;
  readonly question: string;
  readonly answers: Readonly<Record<Gsm8kAnswerModel, Gsm8kModelAnswer>>;
}

export interface Gsm8kModelAnswer {
  /** The solution, which ends `A: <number>`. */
  readonly text: string;
  /** As its authors judged it. */
  readonly correct: boolean;
}

/** Reads `example_model_solutions.jsonl`. */
export function decodeGsm8kModelAnswers(text: string, file: string): Gsm8kModelAnswers[] {
  return decodeJsonLines(text, file).map((record, index) => {
    const answerOf = (model: Gsm8kAnswerModel): Gsm8kModelAnswer => {
      const answer = record.getNestedRecord(model);
      return { text: answer.getString("solution"), correct: answer.getBoolean("is_correct") };
    };
    return {
      id: `gsm8k_${index}`,
      question: record.getString("question"),
      answers: {
        "6b_finetuning": answerOf("6b_finetuning"),
        "6b_verification": answerOf("6b_verification"),
        "175b_finetuning": answerOf("175b_finetuning"),
        "175b_verification": answerOf("175b_verification"),
      },
    };
  });
}
