import { evaluateArithmetic } from "../../cards/index.ts";
import { formatNumber } from "../../cards/index.ts";
import { A2AError } from "../../protocol/index.ts";
import type { ModelMessage } from "../role-model.ts";
import type { TaskOutcome, TaskContext, Role } from "../role.ts";
import { hasDocuments, renderSolverInstructions, renderTaskPrompt } from "./prompts.ts";

export interface SolverOptions {
  /** As it stands on cards. Default `solver`. */
  readonly name?: string;
  /** Tokens of one answer, those of its thoughts with them. Default 1,024. */
  readonly maxAnswerTokens?: number;
  /** The model may write arithmetic as `<<16-3-4>>`; it is calculated and nothing else is run. Default `false`. */
  readonly calculator?: boolean;
  readonly temperature?: number;
  readonly seed?: number;
}

/**
 * A role that does one subtask with one call of its model, and says as little as answers it. `success`; `partial`, when
 * the model says that it found nothing; the error `model_error`, when it says nothing at all or cannot calculate.
 */
export function createSolver(options: SolverOptions = {}): Role {
  return {
    name: options.name ?? "solver",
    description: "Does one subtask and answers in a number or a sentence.",
    performTask: (taskContext) => runSolver(taskContext, options),
  };
}

async function runSolver(taskContext: TaskContext, options: SolverOptions): Promise<TaskOutcome> {
  const { maxAnswerTokens = 1_024, calculator = false, temperature, seed } = options;
  const messages: ModelMessage[] = [
    { role: "system", text: renderSolverInstructions(calculator, hasDocuments(taskContext.task)) },
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
    if (problem === undefined)
      return { result, status: /^not found\.?$/i.test(result) ? "partial" : "success" };
    if (attempt > 1)
      return { error: `The solver's model cannot calculate: ${problem}`, errorType: "model_error" };
    messages.push({ role: "assistant", text }, { role: "user", text: `${problem} Answer again.` });
  }
}

/** The text with the value of every `<<…>>` in its place; of `<<16-3-4=9>>` too, whatever the model says it is. */
function replaceArithmetic(text: string): { result: string; problem?: string } {
  try {
    return {
      result: text.replaceAll(ARITHMETIC_PATTERN, (_, expression: string) =>
        formatNumber(evaluateArithmetic(expression)),
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
      ? `its ${maxTokens} tokens were spent before it said anything; raise maxAnswerTokens`
      : `it stopped with ${finish}`;
  return { error: `The solver's model answered nothing: ${reason}.`, errorType: "model_error" };
}
