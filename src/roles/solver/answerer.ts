import { CONTROLLER, type CoreRole, normalizeAnswer, type CardRoute, SOLVER } from "../../cards/index.ts";
import { findLastNumber, findStrictAnswer } from "../../cards/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { getDatasetName } from "../dataset-name.ts";
import type { ModelReply } from "../role-model.ts";
import type { TaskOutcome, TaskContext, Role } from "../role.ts";
import { renderAnswererInstructions, hasDocuments, renderTaskPrompt } from "./prompts.ts";

export interface AnswererOptions {
  /** As it stands on cards. Default `solver`. */
  readonly name?: string;
  /** With or without a chain of thought. */
  readonly style: "cot" | "direct";
  /** Answers that are asked for, at the same time; the one that most agree on wins. Default 1. */
  readonly samples?: number;
  /** Of one answer. Default 2,048. */
  readonly maxTokens?: number;
  /** Several samples need some, and models have it by default. */
  readonly temperature?: number;
  /** Of the first sample; each further one has the next. */
  readonly seed?: number;
}

/**
 * A role that answers a whole problem by itself: the baselines `direct`, `cot` and `cot-sc@k`. The result of one sample is
 * what the model said; of several, `Answer: …` by majority, with `metadata.votes`. `extractAnswer` finds the answer in both.
 * Throws INVALID_PARAMS for less than one sample.
 */
export function createAnswerer(options: AnswererOptions): Role {
  const { samples = 1 } = options;
  if (!Number.isSafeInteger(samples) || samples < 1)
    throw new A2AError(
      "INVALID_PARAMS",
      `No answerer can give ${samples} samples; give a whole number from 1.`,
    );
  return {
    name: options.name ?? "solver",
    description: "Answers a whole problem by itself.",
    performTask: (taskContext) => runAnswerer(taskContext, options),
  };
}

/** What a card protocol needs beside its own routes when a controller gives whole problems to a solver. */
export const ANSWERER_ROUTES: readonly CardRoute<
  CoreRole,
  "task" | "control" | "result" | "query" | "error"
>[] = [
  { from: CONTROLLER, to: SOLVER, types: ["task", "control", "result"] },
  { from: SOLVER, to: CONTROLLER, types: ["result", "query", "error"] },
];

async function runAnswerer(taskContext: TaskContext, options: AnswererOptions): Promise<TaskOutcome> {
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
    return { error: `The model answered nothing; it stopped with ${finish}.`, errorType: "model_error" };
  }
  if (samples === 1) return { result: firstText, status: "completed" };
  const votes = countVotes(texts.map((text) => extractAnswer(text, getDatasetName(taskContext.task))));
  const [winner] = votes;
  return winner === undefined
    ? { error: "None of the samples has an answer in it.", errorType: "model_error" }
    : { result: `Answer: ${winner.answer}`, status: "completed", metadata: { votes } };
}

/**
 * The answer in what a model said: of `gsm8k` the number after the last mark, else the last one; of others what follows the
 * last `Answer:`, else all of it. `undefined` where there is none.
 */
export function extractAnswer(text: string, dataset: string): string | undefined {
  if (dataset === "gsm8k") return findStrictAnswer(text) ?? findLastNumber(text);
  const [, marked] = [...text.matchAll(MARKED_ANSWER_PATTERN)].at(-1) ?? [];
  const answer = (marked ?? text).replaceAll("*", "").trim();
  return answer === "" ? undefined : answer;
}

const MARKED_ANSWER_PATTERN = /\banswer\**:\**[ \t]*([^\n]*)/gi;

/** Answers with how often they were given, the most frequent first; of equals, the one that was first. */
function countVotes(answers: readonly (string | undefined)[]): { answer: string; count: number }[] {
  const validAnswers = answers.filter((answer) => answer !== undefined);
  // Numbers are the same by value, and words by the normalisation of the scores; the first spelling stands for all.
  const groups = Map.groupBy(validAnswers, (answer) =>
    Number.isFinite(Number(answer)) ? String(Number(answer)) : normalizeAnswer(answer),
  );
  return [...groups.values()]
    .map((group) => ({ answer: group[0] ?? "", count: group.length }))
    .toSorted((a, b) => b.count - a.count);
}
