import { decodeJsonLines, isBoolean } from "./data-record.ts";

/** Names of the four models whose answers OpenAI published with GSM8K in 2021. */
export const GSM8K_ANSWER_MODELS = [
  "6b_finetuning",
  "6b_verification",
  "175b_finetuning",
  "175b_verification",
] as const;

/** Name of a model whose GSM8K answers OpenAI published. */
export type Gsm8kAnswerModel = (typeof GSM8K_ANSWER_MODELS)[number];

/** Published answers of four models to one GSM8K problem. */
export interface Gsm8kModelAnswers {
  /** ID of the problem in GSM8K's `test.jsonl`. */
  readonly id: string;
  readonly question: string;
  readonly answers: Readonly<Record<Gsm8kAnswerModel, Gsm8kModelAnswer>>;
}

/** Published answer of one model to one GSM8K problem. */
interface Gsm8kModelAnswer {
  /** Solution text of the model, which ends with `A: <number>`. */
  readonly text: string;
  /** Whether the authors of the dataset rated the answer as correct. */
  readonly correct: boolean;
}

/** Parses GSM8K's `example_model_solutions.jsonl`. `file` is the file name in error messages. */
export function decodeGsm8kModelAnswers(text: string, file: string): Gsm8kModelAnswers[] {
  return decodeJsonLines(text, file).map((record, index) => {
    const parseAnswer = (model: Gsm8kAnswerModel): Gsm8kModelAnswer => {
      const answer = record.getNestedRecord(model);
      return {
        text: answer.getString("solution"),
        correct: answer.get("is_correct", isBoolean, "a boolean"),
      };
    };
    return {
      id: `gsm8k_${index}`,
      question: record.getString("question"),
      answers: Object.fromEntries(
        GSM8K_ANSWER_MODELS.map((model) => [model, parseAnswer(model)]),
      ) as Gsm8kModelAnswers["answers"],
    };
  });
}
