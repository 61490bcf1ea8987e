import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { evaluateArithmetic, formatNumberWithoutExponent } from "../../index.ts";
import { A2AError } from "../../../protocol/index.ts";
import { findReplyErrorType, type ModelMessage } from "../role-model.ts";
import type { TaskOutcome, TaskContext, Role } from "../role.ts";
import { hasDocuments, renderSolverInstructions, renderTaskPrompt } from "./prompts.ts";

/** Options for `createSolver`. */
export interface SolverOptions {
  /** Name of the solver role on message cards. Default: `solver`. */
  readonly name?: string;
  /** Maximum number of tokens in one model answer, including reasoning tokens. Default: 1,024. */
  readonly maxAnswerTokens?: number;
  /**
   * Whether the solver evaluates arithmetic expressions that the model writes as `<<16-3-4>>`. The calculator
   * evaluates only arithmetic and executes no code. Default: `false`.
   */
  readonly calculator?: boolean;
  readonly temperature?: number;
  readonly seed?: number;
  /** First lines of the system prompt. Default: the instructions of the package. */
  readonly instructions?: string;
}

const assertKnownOptions = defineOptionNames<SolverOptions>()(
  "createSolver",
  "calculator instructions maxAnswerTokens name seed temperature",
);

/**
 * Creates a solver role. The solver performs one subtask with one model call and returns a short answer. If
 * `calculator` is `true` and an expression is invalid, the solver calls the model a second time. The result
 * has the status `success`. If the model replies "Not found", the status is `partial`. If the
 * token limit cut off the reply, the status is `partial`, too, with the error type `truncated`. If the reply is empty
 * or still contains an invalid expression, the solver returns the error `model_error`.
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
  const { maxAnswerTokens = 1_024, calculator = false, temperature, seed, instructions } = options;
  const messages: ModelMessage[] = [
    {
      role: "system",
      text: renderSolverInstructions(calculator, hasDocuments(taskContext.task), instructions),
    },
    { role: "user", text: renderTaskPrompt("Subtask", taskContext.task) },
  ];
  for (let attempt = 1; ; attempt++) {
    const reply = await taskContext.callModel({
      input: { kind: "solve", task: taskContext.task },
      messages,
      maxTokens: maxAnswerTokens,
      ...(temperature !== undefined && { temperature }),
      ...(seed !== undefined && { seed }),
    });
    const text = reply.text.toWellFormed().trim();
    if (text === "") return createEmptyReplyOutcome(reply.finish, maxAnswerTokens);
    const { result, problem } = calculator ? replaceArithmetic(text) : { result: text };
    if (reply.finish === "length")
      return { result: text, status: "partial", metadata: { error_type: "truncated" } };
    if (problem === undefined)
      return { result, status: /^not found\.?$/i.test(result) ? "partial" : "success" };
    if (attempt > 1)
      return {
        error: `The solver's model wrote invalid arithmetic twice: ${problem}`,
        errorType: "model_error",
      };
    taskContext.reportUnusableReply(problem, reply);
    messages.push({ role: "assistant", text }, { role: "user", text: `${problem} Answer again.` });
  }
}

/**
 * Replaces every arithmetic expression `<<…>>` with its value. In `<<16-3-4=9>>`, the calculator ignores the
 * value `9` that the model wrote.
 */
function replaceArithmetic(text: string): { result: string; problem?: string } {
  try {
    return {
      result: text.replaceAll(ARITHMETIC_PATTERN, (_, expression: string) =>
        formatNumberWithoutExponent(evaluateArithmetic(expression)),
      ),
    };
  } catch (error) {
    return { result: text, problem: A2AError.from(error).message };
  }
}

const ARITHMETIC_PATTERN = /<<([^<>=]+)(?:=[^<>]*)?>>/g;

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
