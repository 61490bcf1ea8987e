import { evaluateArithmetic, type Gsm8kSample, type TaskCard } from "../../cards/index.ts";
import {
  batchSteps,
  findLastNumber,
  getOracleAnswer,
  createOraclePlan,
  type OracleStep,
  formatNumber,
} from "../../cards/index.ts";
import { A2AError } from "../../protocol/index.ts";
import type { SolverFinding, ModelRequest, PlanInput, RoleModel } from "../role-model.ts";
import { fillPlaceholders } from "../planner/placeholders.ts";
import { createScriptedModel } from "./scripted-model.ts";

export interface OracleModelOptions {
  /**
   * Put several steps into one subtask where there are more steps than turns. Without it one step is one call, and with
   * three turns most problems of GSM8K cannot be finished. Default `true`.
   */
  readonly combineSteps?: boolean;
}

/**
 * Plays all roles on GSM8K, knowing the human solution: the planner gives out the human sub-questions with what there is
 * to calculate, the solver calculates it. What the planner was told goes into what it asks next, so a wrong reply of the
 * solver is in the answer. What it reaches says that the machinery loses nothing, and nothing of any model.
 *
 * @throws INVALID_PARAMS, when it is asked for a problem that it was not given, by `sample_id` or by its text.
 */
export function createOracleModel(
  samples: readonly Gsm8kSample[],
  { combineSteps = true }: OracleModelOptions = {},
): RoleModel {
  const samplesByKey = new Map(
    samples.flatMap((sample) => [[sample.id, sample] as const, [sample.question, sample]]),
  );
  const findPlan = ({ content, metadata }: TaskCard): OracleStep[] => {
    const sample = samplesByKey.get(metadata.sample_id ?? "") ?? samplesByKey.get(content);
    if (sample) return createOraclePlan(sample);
    const name = metadata.sample_id ?? JSON.stringify(content.slice(0, 60));
    throw new A2AError("INVALID_PARAMS", `The oracle does not know ${name}; give it the samples of the run.`);
  };
  const reply = ({ input }: ModelRequest): string => {
    if (input.kind === "solve") return answerSubtask(input.task.content);
    const steps = findPlan(input.task);
    if (input.kind === "plan") return JSON.stringify(planNextAction(input, steps, combineSteps));
    const shownSteps =
      input.style === "cot" ? steps.map(({ question, answer }) => `${question} ${answer}`) : [];
    return [...shownSteps, `Answer: ${getOracleAnswer(steps)}`].join("\n");
  };
  return createScriptedModel(reply, { id: "oracle", evidenceKind: "oracle" });
}

function planNextAction(input: PlanInput, steps: readonly OracleStep[], batch: boolean): object {
  // A failed subtask is given out again; the whole problem, when somebody forced it on a solver, is none of its own.
  const done = input.findings.filter(
    ({ status, subtask }) => status !== "error" && subtask !== input.task.content,
  );
  const sizes = done.map(({ subtask }) => subtask.split("\n").length);
  const rest = steps.slice(sizes.reduce((sum, size) => sum + size, 0));
  // One that has not come to its end has no answer: it goes on until it is stopped.
  if (rest.length === 0)
    return { action: "final_answer", answer: computeFinalAnswer(done, buildStepBatches(steps, sizes)) };
  const { turn, maxTurns, solverCallsLeft = Infinity, mode } = input;
  const chained = mode === "chained";
  const maxBatches = chained ? Math.min(maxTurns - turn, solverCallsLeft) : solverCallsLeft;
  const batches = batchSteps(rest, batch && Number.isFinite(maxBatches) ? maxBatches : rest.length).map(
    ({ length }) => length,
  );
  const stepBatches = buildStepBatches(steps, [...sizes, ...batches]).slice(sizes.length);
  const answers = new Map(
    done.map(({ answer }, index) => [`s${index + 1}`, findLastNumber(answer) ?? answer]),
  );
  const tasks = stepBatches.map(({ task }) => fillPlaceholders(task, answers));
  if (chained) return { action: "call_solver", subtask: tasks[0] };
  return {
    action: "call_solvers",
    subtasks: tasks.map((task, index) => ({ id: `s${sizes.length + index + 1}`, task })),
  };
}

/** A subtask of one or more steps, a line each. */
interface StepBatch {
  /** Where a number is the answer to an earlier batch, `{s1}` stands for it. */
  readonly task: string;
  readonly expectedAnswer: string;
}

function buildStepBatches(steps: readonly OracleStep[], sizes: readonly number[]): StepBatch[] {
  const batches: StepBatch[] = [];
  let from = 0;
  for (const size of sizes) {
    const own = steps.slice(from, from + size);
    const lines = own.map(({ question, expressions, answer }) =>
      expressions.length > 0
        ? `${question} Calculate ${expressions.map((one) => insertPlaceholders(one, batches)).join(", ")}`
        : `${question} Known: ${answer || "nothing"}`,
    );
    // Two steps of the test split say nothing.
    batches.push({ task: lines.join("\n"), expectedAnswer: own.at(-1)?.answer || "nothing" });
    from += size;
  }
  return batches;
}

function insertPlaceholders(expression: string, batches: readonly StepBatch[]): string {
  return expression.replaceAll(NUMBER_PATTERN, (number) => {
    const source = batches.findLastIndex(({ expectedAnswer }) => Number(expectedAnswer) === Number(number));
    return source < 0 ? number : `{s${source + 1}}`;
  });
}

const NUMBER_PATTERN = /\d+\.?\d*|\.\d+/g;

/**
 * The last that was found. Where what was found differs from what was expected and no later answer hangs on it, the
 * difference is added: in a chain every link counts, though the human may have written a number down once more.
 */
function computeFinalAnswer(findings: readonly SolverFinding[], batches: readonly StepBatch[]): string {
  const last = findings.at(-1)?.answer ?? "";
  const difference = findings.slice(0, -1).reduce((sum, { answer }, index) => {
    const { expectedAnswer = answer } = batches[index] ?? {};
    const isUsed = batches.some(({ task }) => getLastExpression(task).includes(`{s${index + 1}}`));
    return isUsed || answer === expectedAnswer
      ? sum
      : sum + Number(findLastNumber(answer)) - Number(findLastNumber(expectedAnswer));
  }, 0);
  if (difference === 0) return last;
  const value = Number(findLastNumber(last)) + difference;
  return Number.isFinite(value) ? formatNumber(value) : "unknown";
}

/** What the last line of a subtask says: the value of its last expression, or what is known. */
function answerSubtask(task: string): string {
  const [, samplesByKey] = / Known: (.*)$/.exec(task) ?? [];
  if (samplesByKey !== undefined) return samplesByKey;
  try {
    return formatNumber(evaluateArithmetic(getLastExpression(task)));
  } catch {
    return "Not found";
  }
}

/** The last expression of a subtask; those before it are what the human wrote down on the way. */
function getLastExpression(task: string): string {
  return / Calculate ([^\n]*)$/.exec(task)?.[1]?.split(", ").at(-1) ?? "";
}
