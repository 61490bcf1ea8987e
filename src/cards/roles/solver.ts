import { defineOptionNames, omitUndefined } from "../../base/usage-checks/index.ts";
import {
  type AnswerForm,
  type CardRoute,
  CONTROLLER,
  type CoreRole,
  extractAnswer,
  isPlaceholderText,
  normalizeAnswer,
  SOLVER,
} from "../index.ts";
import { A2AError } from "../../protocol/index.ts";
import { findReplyErrorType, type ModelReply } from "./role-model.ts";
import type { Role, TaskContext, TaskOutcome } from "./role.ts";
import {
  hasDocuments,
  MAX_ANSWER_CHARACTERS,
  quoteForPrompt,
  renderAnswererInstructions,
  renderSolverInstructions,
  renderTaskPrompt,
} from "./prompts.ts";
import { getTaskDatasetName } from "./context-documents.ts";

/** Options for `createSolver`. */
export interface SolverOptions {
  /** Name of the solver role on message cards. Default: `solver`. */
  readonly name?: string;
  /** Maximum number of tokens in one model answer, including reasoning tokens. Default: 1,024. */
  readonly maxAnswerTokens?: number;
  readonly temperature?: number;
  readonly seed?: number;
  /** First lines of the system prompt. Default: the instructions of the package. */
  readonly instructions?: string;
}

const assertKnownOptions = defineOptionNames<SolverOptions>()(
  "createSolver",
  "instructions maxAnswerTokens name seed temperature",
);

/**
 * Creates a solver role. The solver performs one subtask with one model call and returns a short answer. The result
 * has the status `success`. If the model replies "Not found", the status is `partial`. If the
 * token limit cut off the reply, the status is `partial`, too, with the error type `truncated`. If the reply is empty,
 * the solver returns the error `model_error`.
 */
export function createSolver(options: SolverOptions = {}): Role {
  assertKnownOptions(options);
  return {
    name: options.name ?? "solver",
    description: "Performs one subtask and answers with a number or a sentence.",
    performTask: (taskContext) => runSolver(taskContext, options),
  };
}

async function runSolver(taskContext: TaskContext, options: SolverOptions): Promise<TaskOutcome> {
  const { maxAnswerTokens = 1_024, temperature, seed, instructions } = options;
  const { task } = taskContext;
  const reply = await taskContext.callModel({
    input: { kind: "solve", task },
    messages: [
      { role: "system", text: renderSolverInstructions(hasDocuments(task), instructions) },
      { role: "user", text: renderTaskPrompt("Subtask", task) },
    ],
    maxTokens: maxAnswerTokens,
    ...omitUndefined({ temperature, seed }),
  });
  const result = reply.text.toWellFormed().trim();
  if (result === "") return createEmptyReplyOutcome(reply.finish, maxAnswerTokens);
  if (reply.finish === "length") return { result, status: "partial", metadata: { error_type: "truncated" } };
  return { result, status: /^not found\.?$/i.test(result) ? "partial" : "success" };
}

function createEmptyReplyOutcome(finish: string, maxTokens: number): TaskOutcome {
  const reason =
    finish === "length"
      ? `it used all ${maxTokens} tokens without an answer; raise maxAnswerTokens`
      : `it stopped with ${finish}`;
  return {
    error: `The solver's model returned an empty answer: ${reason}.`,
    errorType: findReplyErrorType(finish) ?? "model_error",
  };
}

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
  /**
   * Number of rounds of a debate. In each further round, every sample is requested again, and its prompt contains the
   * answers of all other samples. Only the answers of the last round count. Default: 1.
   */
  readonly rounds?: number;
  /** Form of the answers, which the vote compares. Default: `number` for GSM8K, and `text` otherwise. */
  readonly answerForm?: AnswerForm;
  /** Maximum number of tokens in one sampled answer. Default: 2,048. */
  readonly maxTokens?: number;
  /**
   * Sampling temperature. With a temperature of 0, more than one sample is useless. The default temperature
   * depends on the model.
   */
  readonly temperature?: number;
  /** Seed of the first answer sample. Each further sample uses the next integer as its seed. */
  readonly seed?: number;
  /**
   * First lines of the system prompt. Ask for a last line that starts with `Answer:`. Default: the instructions of the
   * package.
   */
  readonly instructions?: string;
}

const assertKnownBaselineAnswererOptions = defineOptionNames<BaselineAnswererOptions>()(
  "createBaselineAnswerer",
  "answerForm instructions maxTokens name rounds samples seed style temperature",
);

/**
 * Creates an answerer role, which solves a complete problem without a planner. The answerer implements the
 * baselines `direct`, `cot`, and `cot-sc@k`. If only one answer is sampled, the result is the model's
 * complete reply. If several answers are sampled, the result is the majority answer in the form `Answer: …`,
 * and `metadata.votes` lists the number of votes. A reply that the token limit cuts off counts only if an earlier
 * line contains a marked answer; otherwise the result is partial. Throws `INVALID_PARAMS`
 * if `samples` is less than 1.
 */
export function createBaselineAnswerer(options: BaselineAnswererOptions): Role {
  assertKnownBaselineAnswererOptions(options);
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
  const { style, samples = 1, rounds = 1, maxTokens = 2_048, temperature, seed, instructions } = options;
  const sampleAnswer = (sample: number, others: readonly ModelReply[]): Promise<ModelReply> =>
    taskContext.callModel({
      input: { kind: "answer", task: taskContext.task, style, sampleNumber: sample },
      messages: [
        {
          role: "system",
          text: renderAnswererInstructions(
            style,
            hasDocuments(taskContext.task) || others.length > 0,
            instructions,
          ),
        },
        { role: "user", text: renderTaskPrompt("Problem", taskContext.task) + renderOtherAnswers(others) },
      ],
      maxTokens,
      ...omitUndefined({ temperature, seed: seed === undefined ? undefined : seed + sample - 1 }),
    });
  let replies: readonly ModelReply[] = [];
  for (let round = 0; round < rounds; round++) {
    const earlier = replies;
    const answers = Array.from({ length: samples }, (_, index) =>
      sampleAnswer(
        round * samples + index + 1,
        earlier.filter((_, other) => other !== index),
      ),
    );
    replies = await Promise.all(answers);
  }
  const form = options.answerForm ?? (getTaskDatasetName(taskContext.task) === "gsm8k" ? "number" : "text");
  const texts = replies.map(({ text }) => text.toWellFormed().trim());
  const usable = replies.flatMap(({ finish }, index) => {
    const text = texts[index] ?? "";
    return text === "" || (finish === "length" && !hasCompleteAnswer(text, form)) ? [] : text;
  });
  const [firstText] = usable;
  if (firstText === undefined) return createFailedOutcome(replies, texts.find(Boolean));
  if (samples === 1) return { result: firstText, status: "completed" };
  const answers = usable.map((text) => extractAnswer(text, form).answer);
  const votes = countVotes(answers.filter((answer) => !isPlaceholderText(answer ?? "")));
  const [winner] = votes;
  return winner === undefined
    ? { error: "None of the samples contains an answer.", errorType: "no_answer" }
    : { result: `Answer: ${winner.answer}`, status: "completed", metadata: { votes } };
}

/** Renders the answers of the other participants of a debate. */
function renderOtherAnswers(others: readonly ModelReply[]): string {
  if (others.length === 0) return "";
  const quoted = others.map(({ text }) => `- ${quoteForPrompt(text.trim(), MAX_ANSWER_CHARACTERS)}`);
  return ["", "Answers of others, which may be wrong:", ...quoted, "Check them, then answer again."].join(
    "\n",
  );
}

/** Returns whether a reply that was cut off contains a marked answer before its last line. */
function hasCompleteAnswer(text: string, form: AnswerForm): boolean {
  const { answer, isMarked } = extractAnswer(text.slice(0, text.lastIndexOf("\n") + 1), form);
  return isMarked && answer !== undefined;
}

/** Creates the outcome of replies that are empty, filtered, or cut off. */
function createFailedOutcome(replies: readonly ModelReply[], text: string | undefined): TaskOutcome {
  const finishes = [...new Set(replies.map(({ finish }) => finish))];
  const [errorType] = finishes.flatMap((finish) => findReplyErrorType(finish) ?? []);
  if (text !== undefined)
    return { result: text, status: "partial", metadata: { error_type: errorType ?? "truncated" } };
  return {
    error: `The model returned an empty answer; it stopped with ${finishes.join(", ")}.`,
    errorType: errorType ?? "model_error",
  };
}

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
