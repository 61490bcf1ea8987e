import { evaluate, type GsmSample, type TaskCard } from "../../cards/index.ts";
import {
  batchSteps,
  lastNumber,
  oracleAnswer,
  oraclePlan,
  type OracleStep,
  writeNumber,
} from "../../cards/index.ts";
import { A2AError } from "../../protocol/index.ts";
import type { Finding, ModelRequest, PlanStep, RoleModel } from "../model.ts";
import { fillIn } from "../planner/placeholders.ts";
import { scripted } from "./scripted.ts";

export interface OracleOptions {
  /**
   * Put several steps into one subtask where there are more steps than turns. Without it one step is one call, and with
   * three turns most problems of GSM8K cannot be finished. Default `true`.
   */
  readonly batch?: boolean;
}

/**
 * Plays all roles on GSM8K, knowing the human solution: the planner gives out the human sub-questions with what there is
 * to calculate, the solver calculates it. What the planner was told goes into what it asks next, so a wrong reply of the
 * solver is in the answer. What it reaches says that the machinery loses nothing, and nothing of any model.
 *
 * @throws INVALID_PARAMS, when it is asked for a problem that it was not given, by `sample_id` or by its text.
 */
export function oracle(samples: readonly GsmSample[], { batch = true }: OracleOptions = {}): RoleModel {
  const known = new Map(
    samples.flatMap((sample) => [[sample.id, sample] as const, [sample.question, sample]]),
  );
  const planFor = ({ content, metadata }: TaskCard): OracleStep[] => {
    const sample = known.get(metadata.sample_id ?? "") ?? known.get(content);
    if (sample) return oraclePlan(sample);
    const name = metadata.sample_id ?? JSON.stringify(content.slice(0, 60));
    throw new A2AError("INVALID_PARAMS", `The oracle does not know ${name}; give it the samples of the run.`);
  };
  const reply = ({ step }: ModelRequest): string => {
    if (step.kind === "solve") return calculate(step.task.content);
    const steps = planFor(step.task);
    if (step.kind === "plan") return JSON.stringify(plan(step, steps, batch));
    const shown = step.style === "cot" ? steps.map(({ question, answer }) => `${question} ${answer}`) : [];
    return [...shown, `Answer: ${oracleAnswer(steps)}`].join("\n");
  };
  return scripted(reply, { id: "oracle", evidence: "oracle" });
}

function plan(step: PlanStep, steps: readonly OracleStep[], batch: boolean): object {
  // A failed subtask is given out again; the whole problem, when somebody forced it on a solver, is none of its own.
  const done = step.findings.filter(
    ({ status, subtask }) => status !== "error" && subtask !== step.task.content,
  );
  const sizes = done.map(({ subtask }) => subtask.split("\n").length);
  const rest = steps.slice(sizes.reduce((sum, size) => sum + size, 0));
  // One that has not come to its end has no answer: it goes on until it is stopped.
  if (rest.length === 0) return { action: "final_answer", answer: carry(done, weave(steps, sizes)) };
  const { turn, turns, callsLeft = Infinity, mode } = step;
  const chained = mode === "chained";
  const most = chained ? Math.min(turns - turn, callsLeft) : callsLeft;
  const batches = batchSteps(rest, batch && Number.isFinite(most) ? most : rest.length).map(
    ({ length }) => length,
  );
  const woven = weave(steps, [...sizes, ...batches]).slice(sizes.length);
  const answers = new Map(done.map(({ answer }, index) => [`s${index + 1}`, lastNumber(answer) ?? answer]));
  const tasks = woven.map(({ task }) => fillIn(task, answers));
  if (chained) return { action: "call_solver", subtask: tasks[0] };
  return {
    action: "call_solvers",
    subtasks: tasks.map((task, index) => ({ id: `s${sizes.length + index + 1}`, task })),
  };
}

/** A subtask of one or more steps, a line each. */
interface Batch {
  /** Where a number is the answer to an earlier batch, `{s1}` stands for it. */
  readonly task: string;
  readonly expected: string;
}

function weave(steps: readonly OracleStep[], sizes: readonly number[]): Batch[] {
  const batches: Batch[] = [];
  let from = 0;
  for (const size of sizes) {
    const own = steps.slice(from, from + size);
    const lines = own.map(({ question, expressions, answer }) =>
      expressions.length > 0
        ? `${question} Calculate ${expressions.map((one) => refer(one, batches)).join(", ")}`
        : `${question} Known: ${answer || "nothing"}`,
    );
    // Two steps of the test split say nothing.
    batches.push({ task: lines.join("\n"), expected: own.at(-1)?.answer || "nothing" });
    from += size;
  }
  return batches;
}

function refer(expression: string, batches: readonly Batch[]): string {
  return expression.replaceAll(NUMBER, (number) => {
    const source = batches.findLastIndex(({ expected }) => Number(expected) === Number(number));
    return source < 0 ? number : `{s${source + 1}}`;
  });
}

const NUMBER = /\d+\.?\d*|\.\d+/g;

/**
 * The last that was found. Where what was found differs from what was expected and no later answer hangs on it, the
 * difference is added: in a chain every link counts, though the human may have written a number down once more.
 */
function carry(findings: readonly Finding[], batches: readonly Batch[]): string {
  const last = findings.at(-1)?.answer ?? "";
  const off = findings.slice(0, -1).reduce((sum, { answer }, index) => {
    const { expected = answer } = batches[index] ?? {};
    const isUsed = batches.some(({ task }) => deciding(task).includes(`{s${index + 1}}`));
    return isUsed || answer === expected
      ? sum
      : sum + Number(lastNumber(answer)) - Number(lastNumber(expected));
  }, 0);
  if (off === 0) return last;
  const value = Number(lastNumber(last)) + off;
  return Number.isFinite(value) ? writeNumber(value) : "unknown";
}

/** What the last line of a subtask says: the value of its last expression, or what is known. */
function calculate(task: string): string {
  const [, known] = / Known: (.*)$/.exec(task) ?? [];
  if (known !== undefined) return known;
  try {
    return writeNumber(evaluate(deciding(task)));
  } catch {
    return "Not found";
  }
}

/** The last expression of a subtask; those before it are what the human wrote down on the way. */
function deciding(task: string): string {
  return / Calculate ([^\n]*)$/.exec(task)?.[1]?.split(", ").at(-1) ?? "";
}
