import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { CONTROLLER, type CoreRole, normalizeAnswer, type CardRoute, SOLVER } from "../../index.ts";
import { findLastNumber, findStrictAnswer } from "../../index.ts";
import { A2AError } from "../../../protocol/index.ts";
import { getTaskDatasetName } from "../task-dataset-name.ts";
import type { ModelReply } from "../role-model.ts";
import type { TaskOutcome, TaskContext, Role } from "../role.ts";
import { renderAnswererInstructions, hasDocuments, renderTaskPrompt } from "./prompts.ts";

/** Options for `createBaselineAnswerer`. */
export interface BaselineAnswererOptions {
  /** Name of the answerer role on message cards. Default: `solver`. */
  readonly name?: string;
  /** Prompting method: `cot` asks the model to reason step by step, and `direct` asks for the answer only. */
  readonly style: "cot" | "direct";
  /**
   * Number of answers that the answerer requests from the model in parallel. The result is the most frequent
   * of the sampled answers. Default: 1.
   */
  readonly samples?: number;
  /** Maximum number of tokens in one sampled answer. Default: 2,048. */
  readonly maxTokens?: number;
  /**
   * Sampling temperature. With a temperature of 0, more than one sample is useless. The default temperature
   * depends on the model.
   */
  readonly temperature?: number;
  /** Seed of the first answer sample. Each further sample uses the next integer as its seed. */
  readonly seed?: number;
}

const assertKnownOptions = defineOptionNames<BaselineAnswererOptions>()(
  "createBaselineAnswerer",
  "maxTokens name samples seed style temperature",
);

/**
 * Creates an answerer role, which solves a complete problem without a planner. The answerer implements the
 * baselines `direct`, `cot`, and `cot-sc@k`. If only one answer is sampled, the result is the model's
 * complete reply. If several answers are sampled, the result is the majority answer in the form `Answer: …`,
 * and `metadata.votes` lists the number of votes. `extractAnswer` parses both forms. Throws `INVALID_PARAMS`
 * if `samples` is less than 1.
 */
export function createBaselineAnswerer(options: BaselineAnswererOptions): Role {
  assertKnownOptions(options);
  const { samples = 1 } = options;
  if (!Number.isSafeInteger(samples) || samples < 1)
    throw new A2AError(
      "INVALID_PARAMS",
      `The option samples is ${samples}. Set it to an integer of at least 1.`,
    );
  return {
    name: options.name ?? "solver",
    description: "Solves a complete problem without a planner.",
    performTask: (taskContext) => runBaselineAnswerer(taskContext, options),
  };
}

/**
 * Routes that let a controller send complete problems to a solver. The standard card protocol contains no
 * routes between a controller and a solver.
 */
export const BASELINE_ANSWERER_CARD_ROUTES: readonly CardRoute<
  CoreRole,
  "task" | "control" | "result" | "query" | "error"
>[] = [
  { from: CONTROLLER, to: SOLVER, types: ["task", "control", "result"] },
  { from: SOLVER, to: CONTROLLER, types: ["result", "query", "error"] },
];

async function runBaselineAnswerer(
  taskContext: TaskContext,
  options: BaselineAnswererOptions,
): Promise<TaskOutcome> {
  const { style, samples = 1, maxTokens = 2_048, temperature, seed } = options;
  const sampleAnswer = (sample: number): Promise<ModelReply> =>
    taskContext.callModel({
      input: { kind: "answer", task: taskContext.task, style, sampleNumber: sample },
      messages: [
        { role: "system", text: renderAnswererInstructions(style, hasDocuments(taskContext.task)) },
        { role: "user", text: renderTaskPrompt("Problem", taskContext.task) },
      ],
      maxTokens,
      ...(temperature !== undefined && { temperature }),
      ...(seed !== undefined && { seed: seed + sample - 1 }),
    });
  const replies = await Promise.all(Array.from({ length: samples }, (_, index) => sampleAnswer(index + 1)));
  const texts = replies.map(({ text }) => text.toWellFormed().trim()).filter(Boolean);
  const [firstText] = texts;
  if (firstText === undefined) {
    const finish = [...new Set(replies.map((reply) => reply.finish))].join(", ");
    return {
      error: `The model returned an empty answer; it stopped with ${finish}.`,
      errorType: "model_error",
    };
  }
  if (samples === 1) return { result: firstText, status: "completed" };
  const votes = countVotes(texts.map((text) => extractAnswer(text, getTaskDatasetName(taskContext.task))));
  const [winner] = votes;
  return winner === undefined
    ? { error: "None of the samples contains an answer.", errorType: "model_error" }
    : { result: `Answer: ${winner.answer}`, status: "completed", metadata: { votes } };
}

/**
 * Extracts the final answer from a model's reply. For `gsm8k`, the answer is the number after the last answer
 * mark, or else the last number in the reply. For other datasets, the answer is the text after the last
 * `Answer:`, or else the entire reply. Returns `undefined` if the reply contains no answer.
 */
export function extractAnswer(text: string, dataset: string): string | undefined {
  if (dataset === "gsm8k") return findStrictAnswer(text) ?? findLastNumber(text);
  const [, marked] = [...text.matchAll(MARKED_ANSWER_PATTERN)].at(-1) ?? [];
  const answer = (marked ?? text).replaceAll("*", "").trim();
  return answer === "" ? undefined : answer;
}

const MARKED_ANSWER_PATTERN = /\banswer\**:\**[ \t]*([^\n]*)/gi;

/**
 * Counts equal sampled answers and sorts the answers by frequency. If two answers are equally frequent, the
 * one that was sampled first comes first.
 */
function countVotes(answers: readonly (string | undefined)[]): { answer: string; count: number }[] {
  const validAnswers = answers.filter((answer) => answer !== undefined);
  // Numbers are compared by value, other answers in the normalized form of the scores. The first spelling is
  // kept.
  const groups = Map.groupBy(validAnswers, (answer) =>
    Number.isFinite(Number(answer)) ? String(Number(answer)) : normalizeAnswer(answer),
  );
  return [...groups.values()]
    .map((group) => ({ answer: group[0] ?? "", count: group.length }))
    .toSorted((a, b) => b.count - a.count);
}
