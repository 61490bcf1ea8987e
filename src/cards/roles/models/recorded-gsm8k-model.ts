import { type Gsm8kAnswerModel, type Gsm8kModelAnswers, type TaskCard, batchPlanSteps } from "../../index.ts";
import { A2AError } from "../../../protocol/index.ts";
import type { ModelRequest, PlannerModelInput, RoleModel } from "../role-model.ts";
import { createScriptedModel } from "./scripted-model.ts";

/**
 * Creates a model that replays published GSM8K answers. The answers come from four OpenAI models from 2021,
 * and `model` selects one of these models. As an answerer, the recorded model returns the complete solution.
 * As a planner or a solver, the recorded model returns a few lines of the solution per call, and the answer
 * at the end. Every experiment method must reproduce the known accuracies of the four models on the test
 * split: 21.7, 39.0, 34.7, and 56.3 %.
 *
 * Throws `INVALID_PARAMS` if neither the `sample_id` nor the text of a task matches a sample.
 */
export function createRecordedGsm8kModel(
  samples: readonly Gsm8kModelAnswers[],
  model: Gsm8kAnswerModel,
): RoleModel {
  const samplesByKey = new Map(
    samples.flatMap((sample) => [[sample.id, sample] as const, [sample.question, sample]]),
  );
  const findSolution = ({ content, metadata }: TaskCard): string => {
    const sample = samplesByKey.get(metadata.sample_id ?? "") ?? samplesByKey.get(content);
    if (sample) return sample.answers[model].text;
    const name = metadata.sample_id ?? JSON.stringify(content.slice(0, 60));
    throw new A2AError(
      "INVALID_PARAMS",
      `${model} has no recorded answer to ${name}. Create the model with the samples of the run.`,
    );
  };
  const reply = ({ input }: ModelRequest): string => {
    const solution = findSolution(input.task);
    if (input.kind === "answer") return solution;
    const { steps, answer } = splitRecordedSolution(solution);
    if (input.kind === "plan")
      return JSON.stringify(chooseRecordedGsm8kPlannerAction(input, steps.length, answer));
    const [, from = "1", to = from] = SOLUTION_LINES_SUBTASK_PATTERN.exec(input.task.content) ?? [];
    return steps.slice(Number(from) - 1, Number(to)).join(" ") || "Not found";
  };
  return createScriptedModel(reply, { id: `recorded:${model}`, evidenceKind: "recorded-model" });
}

/** Splits a solution into its step lines and the answer from its last line. */
function splitRecordedSolution(solution: string): { steps: string[]; answer: string } {
  const lines = solution.split("\n").filter((line) => line.trim() !== "");
  const last = lines.at(-1) ?? "";
  return { steps: lines.slice(0, -1), answer: last.replace(/^\s*A:\s*/, "") || "none" };
}

function chooseRecordedGsm8kPlannerAction(
  { findings, turn, maxTurns, solverCallsLeft = Infinity }: PlannerModelInput,
  steps: number,
  answer: string,
): object {
  const done = findings.reduce((sum, { status, subtask }) => {
    const [, from, to = from] = SOLUTION_LINES_SUBTASK_PATTERN.exec(subtask) ?? [];
    return status === "error" || from === undefined ? sum : sum + Number(to) - Number(from) + 1;
  }, 0);
  const rest = Array.from({ length: steps - done }, (_, index) => done + index + 1);
  if (rest.length === 0) {
    // A solution of one line has nothing to delegate, but the planner must call a solver at least once.
    if (findings.length > 0) return { action: "final_answer", answer };
    return { action: "call_solver", subtask: "Say line 1 of the recorded solution." };
  }
  const [next = []] = batchPlanSteps(rest, Math.min(maxTurns - turn, solverCallsLeft));
  const last = next.at(-1) ?? 1;
  const lines = next.length > 1 ? `lines ${next[0]} to ${last}` : `line ${last}`;
  return { action: "call_solver", subtask: `Say ${lines} of the recorded solution.` };
}

const SOLUTION_LINES_SUBTASK_PATTERN = /^Say lines? (\d+)(?: to (\d+))? of the recorded solution\.$/;
