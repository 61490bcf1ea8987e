import { decodeJsonLines } from "./data-record.ts";

/** Names of the four models from 2021 whose answers OpenAI published together with GSM8K. */
export const GSM8K_ANSWER_MODELS = [
  "6b_finetuning",
  "6b_verification",
  "175b_finetuning",
  "175b_verification",
] as const;

/** Name of one of the four models with published answers. */
export type Gsm8kAnswerModel = (typeof GSM8K_ANSWER_MODELS)[number];

/** Answers of the four models to one problem. */
export interface Gsm8kModelAnswers {
  /** ID of the same problem in `test.jsonl`. */
  readonly id: string;
  readonly question: string;
  readonly answers: Readonly<Record<Gsm8kAnswerModel, Gsm8kModelAnswer>>;
}

/** Answer of one model to one problem. */
interface Gsm8kModelAnswer {
  /** Solution text. It ends with `A: <number>`. */
  readonly text: string;
  /** Verdict published by the authors of the dataset. */
  readonly correct: boolean;
}

/** Parses `example_model_solutions.jsonl`. `file` is the file name for error messages. */
export function decodeGsm8kModelAnswers(text: string, file: string): Gsm8kModelAnswers[] {
  return decodeJsonLines(text, file).map((record, index) => {
    const parseAnswer = (model: Gsm8kAnswerModel): Gsm8kModelAnswer => {
      const answer = record.getNestedRecord(model);
      return { text: answer.getString("solution"), correct: answer.getBoolean("is_correct") };
    };
    return {
      id: `gsm8k_${index}`,
      question: record.getString("question"),
      answers: {
        "6b_finetuning": parseAnswer("6b_finetuning"),
        "6b_verification": parseAnswer("6b_verification"),
        "175b_finetuning": parseAnswer("175b_finetuning"),
        "175b_verification": parseAnswer("175b_verification"),
      },
    };
  });
}
