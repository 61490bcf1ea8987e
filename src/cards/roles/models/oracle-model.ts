import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { type Gsm8kSample, type Gsm8kStep, type TaskCard, findLastNumber } from "../../index.ts";
import { A2AError } from "../../../protocol/index.ts";
import type { SolverFinding, ModelRequest, PlannerModelInput, RoleModel } from "../role-model.ts";
import { createScriptedModel } from "./scripted-model.ts";

/** Options for `createOracleModel`. */
export interface OracleModelOptions {
  /**
   * Whether the planner combines several solution steps into one subtask if a problem has more steps than
   * turns. If `combineSteps` is `false`, each subtask contains one solution step, and most GSM8K problems
   * need more than three turns. Default: `true`.
   */
  readonly combineSteps?: boolean;
}

const assertKnownOptions = defineOptionNames<OracleModelOptions>()("createOracleModel", "combineSteps");

/**
 * Creates a model that solves GSM8K problems by following the human-written solutions, in any role. As a
 * planner, the oracle sends each sub-question of the human solution, with its arithmetic, to the solver. The
 * oracle inserts earlier answers into later subtasks, so a wrong solver answer changes the final answer. The
 * oracle does not measure a language model. Runs that use the oracle show whether the system loses
 * information.
 *
 * Throws `INVALID_PARAMS` if neither the `sample_id` nor the text of a task matches a sample.
 */
export function createOracleModel(
  samples: readonly Gsm8kSample[],
  options: OracleModelOptions = {},
): RoleModel {
  assertKnownOptions(options);
  const { combineSteps = true } = options;
  const samplesByKey = new Map(
    samples.flatMap((sample) => [[sample.id, sample] as const, [sample.question, sample]]),
  );
  const findPlan = ({ content, metadata }: TaskCard): OraclePlanStep[] => {
    const sample = samplesByKey.get(metadata.sample_id ?? "") ?? samplesByKey.get(content);
    if (sample) return createOraclePlan(sample);
    const name = metadata.sample_id ?? JSON.stringify(content.slice(0, 60));
    throw new A2AError(
      "INVALID_PARAMS",
      `The oracle has no sample ${name}. Create it with the samples of the run.`,
    );
  };
  const reply = ({ input }: ModelRequest): string => {
    if (input.kind === "solve") return answerSubtask(input.task.content);
    const steps = findPlan(input.task);
    if (input.kind === "plan") return JSON.stringify(chooseOraclePlannerAction(input, steps, combineSteps));
    const shownSteps =
      input.style === "cot" ? steps.map(({ question, answer }) => `${question} ${answer}`) : [];
    return [...shownSteps, `Answer: ${getLastOraclePlanStepAnswer(steps)}`].join("\n");
  };
  return createScriptedModel(reply, { id: "oracle", evidenceKind: "oracle" });
}

function chooseOraclePlannerAction(
  input: PlannerModelInput,
  steps: readonly OraclePlanStep[],
  batch: boolean,
): object {
  // A failed subtask is sent again. A forced subtask that contains the entire problem is not one of the
  // planned steps.
  const done = input.findings.filter(
    ({ status, subtask }) => status !== "error" && subtask !== input.task.content,
  );
  const sizes = done.map(({ subtask }) => subtask.split("\n").length);
  const rest = steps.slice(sizes.reduce((sum, size) => sum + size, 0));
  // While steps remain, the planner has no answer and continues until it is stopped.
  if (rest.length === 0)
    return { action: "final_answer", answer: computeFinalAnswer(done, buildOracleSubtasks(steps, sizes)) };
  const calls = batch ? input.maxTurns - input.turn : rest.length;
  const size = batchPlanSteps(rest, calls)[0]?.length ?? 1;
  const subtask = buildOracleSubtasks(steps, [...sizes, size]).at(-1)?.task ?? "";
  const answers = done.map(({ answer }) => findLastNumber(answer) ?? answer);
  return {
    action: "call_solver",
    subtask: subtask.replaceAll(/\{s(\d+)\}/g, (_, number) => answers[Number(number) - 1] ?? ""),
  };
}

/** A subtask with one or more solution steps, each on a separate line. */
interface OracleSubtask {
  /**
   * Text of the subtask. If a number in the subtask is the answer to an earlier batch, such as `s1`, the text
   * contains `{s1}` instead of the number.
   */
  readonly task: string;
  readonly expectedAnswer: string;
}

function buildOracleSubtasks(steps: readonly OraclePlanStep[], sizes: readonly number[]): OracleSubtask[] {
  const batches: OracleSubtask[] = [];
  let from = 0;
  for (const size of sizes) {
    const own = steps.slice(from, from + size);
    const lines = own.map(({ question, expressions, answer }) =>
      expressions.length > 0
        ? `${question} Calculate ${expressions.map((one) => replaceAnswersWithPlaceholders(one, batches)).join(", ")}`
        : `${question} Known: ${answer || "nothing"}`,
    );
    // Two steps of the test split have no answer.
    batches.push({ task: lines.join("\n"), expectedAnswer: own.at(-1)?.answer || "nothing" });
    from += size;
  }
  return batches;
}

function replaceAnswersWithPlaceholders(expression: string, batches: readonly OracleSubtask[]): string {
  return expression.replaceAll(NUMBER_PATTERN, (number) => {
    const source = batches.findLastIndex(({ expectedAnswer }) => Number(expectedAnswer) === Number(number));
    return source < 0 ? number : `{s${source + 1}}`;
  });
}

const NUMBER_PATTERN = /\d+\.?\d*|\.\d+/g;

/**
 * Computes the final answer from the solver's answers. The final answer is the last solver answer, plus the
 * error of each earlier answer that no later step uses. Without this addition, some wrong answers would not
 * change the final answer.
 */
function computeFinalAnswer(findings: readonly SolverFinding[], batches: readonly OracleSubtask[]): string {
  const last = findings.at(-1)?.answer ?? "";
  const difference = findings.slice(0, -1).reduce((sum, { answer }, index) => {
    const { expectedAnswer = answer } = batches[index] ?? {};
    const isUsed = batches.some(({ task }) => getLastArithmeticExpression(task).includes(`{s${index + 1}}`));
    return isUsed || answer === expectedAnswer
      ? sum
      : sum + Number(findLastNumber(answer)) - Number(findLastNumber(expectedAnswer));
  }, 0);
  if (difference === 0) return last;
  const value = Number(findLastNumber(last)) + difference;
  return Number.isFinite(value) ? formatNumberWithoutExponent(value) : "unknown";
}

/** Answers a subtask with the value of its last arithmetic expression, or else with the known answer. */
function answerSubtask(task: string): string {
  const samplesByKey = findRestOfLastLine(task, " Known: ");
  if (samplesByKey !== undefined) return samplesByKey;
  try {
    return formatNumberWithoutExponent(evaluateArithmetic(getLastArithmeticExpression(task)));
  } catch {
    return "Not found";
  }
}

/**
 * Returns the last arithmetic expression of a subtask. All earlier expressions in the subtask are
 * intermediate results.
 */
function getLastArithmeticExpression(task: string): string {
  return findRestOfLastLine(task, " Calculate ")?.split(", ").at(-1) ?? "";
}

/** Returns the text after the first occurrence of a marker in the last line. */
function findRestOfLastLine(text: string, marker: string): string | undefined {
  const lastLine = text.slice(text.lastIndexOf("\n") + 1);
  const index = lastLine.indexOf(marker);
  return index < 0 ? undefined : lastLine.slice(index + marker.length);
}

/** Longer expressions could nest too deeply for the call stack. */
const MAX_EXPRESSION_LENGTH = 1_000;

/**
 * Evaluates an arithmetic expression without executing code. The expression can contain decimal numbers, the
 * operators `+ - * /`, and parentheses. Throws INVALID_PARAMS if the expression contains any other character,
 * has more than 1,000 characters, or has no finite value.
 */
export function evaluateArithmetic(expression: string): number {
  const tokens = expression.slice(0, MAX_EXPRESSION_LENGTH + 1).match(/\d+\.?\d*|\.\d+|\S/g) ?? [];
  let at = 0;
  const parseFactor = (): number => {
    const token = tokens[at++] ?? "";
    if (token === "-") return -parseFactor();
    if (token === "+") return parseFactor();
    if (token !== "(") return /\d/.test(token) ? Number(token) : Number.NaN;
    const value = parseSum();
    return tokens[at++] === ")" ? value : Number.NaN;
  };
  const parseProduct = (): number => {
    let value = parseFactor();
    for (; tokens[at] === "*" || tokens[at] === "/";)
      value = tokens[at++] === "*" ? value * parseFactor() : value / parseFactor();
    return value;
  };
  const parseSum = (): number => {
    let value = parseProduct();
    for (; tokens[at] === "+" || tokens[at] === "-";)
      value = tokens[at++] === "+" ? value + parseProduct() : value - parseProduct();
    return value;
  };
  const value = expression.length > MAX_EXPRESSION_LENGTH ? Number.NaN : parseSum();
  if (at === tokens.length && Number.isFinite(value)) return value;
  throw new A2AError(
    "INVALID_PARAMS",
    `${JSON.stringify(expression.slice(0, 80))} is no arithmetic expression with a finite value. Use numbers, + - * /, and parentheses.`,
  );
}

/** Formats a number without exponents and without rounding artifacts such as `0.30000000000000004`. */
export function formatNumberWithoutExponent(value: number): string {
  const rounded = Number(value.toPrecision(12));
  return rounded
    .toLocaleString("en-US", { useGrouping: false, maximumFractionDigits: 12 })
    .replace(/^-0$/, "0");
}

/** A subtask in the oracle's plan, with the answer that the solver returns. */
export interface OraclePlanStep {
  readonly question: string;
  /**
   * Arithmetic expressions to evaluate, in order. `expressions` is empty if the human solution has no
   * calculator annotations.
   */
  readonly expressions: readonly string[];
  /**
   * Answer to the subtask, which is the value of the last expression. Without an expression, the answer is
   * the last number in the step's text, or else the entire text.
   */
  readonly answer: string;
}

/**
 * Returns the human solution to a problem as a plan. The function recalculates the calculator annotations.
 * The oracle knows the solution, so its accuracy measures the runtime and not the quality of a model.
 */
export function createOraclePlan(sample: Gsm8kSample): OraclePlanStep[] {
  if (sample.steps.length === 0)
    throw new A2AError(
      "INVALID_PARAMS",
      `${sample.id} has no steps for the oracle. Read test_socratic.jsonl in addition to test.jsonl.`,
    );
  return sample.steps.map(createOraclePlanStep);
}

export function getLastOraclePlanStepAnswer(plan: readonly OraclePlanStep[]): string {
  return plan.at(-1)?.answer ?? "";
}

/**
 * Divides the steps of a plan into at most `maxBatches` batches of nearly equal size, so that the plan fits a
 * turn limit.
 */
export function batchPlanSteps<Step>(steps: readonly Step[], maxBatches: number): Step[][] {
  const calls = Math.min(Math.max(1, Math.trunc(maxBatches)), steps.length);
  return Array.from({ length: calls }, (_, call) =>
    steps.slice(Math.floor((call * steps.length) / calls), Math.floor(((call + 1) * steps.length) / calls)),
  );
}

function createOraclePlanStep({ question, text }: Gsm8kStep): OraclePlanStep {
  const expressions = [...text.matchAll(CALCULATOR_ANNOTATION_PATTERN)].map(
    ([, expression = ""]) => expression,
  );
  const last = expressions.at(-1);
  const answer =
    last === undefined
      ? (findLastNumber(text) ?? text)
      : formatNumberWithoutExponent(evaluateArithmetic(last));
  return { question, expressions, answer };
}

/** Pattern of a calculator annotation in GSM8K, for example `<<16-3-4=9>>`. */
const CALCULATOR_ANNOTATION_PATTERN = /<<([^<>=]+)=[^<>]*>>/g;
