import type { ControlCard, ErrorCard, ResultCard, TaskCard } from "../../index.ts";
import type { ModelMessage, SolverFinding } from "../role-model.ts";
import type { TaskOutcome } from "../role.ts";
import { type PlannerLimits, type PlannerSettings, resolveLimits } from "./planner-options.ts";

/** The complete state of a planner between two steps. */
export interface PlannerState {
  readonly settings: PlannerSettings;
  readonly task: TaskCard;
  readonly limits: PlannerLimits;
  /** Number of the planner's current turn, starting at 1. */
  readonly turn: number;
  readonly findings: readonly SolverFinding[];
  /** Number of subtasks that the planner has dispatched. */
  readonly solverCalls: number;
  /** Tokens that the planner and its solvers have used. */
  readonly tokensSpent: number;
  /**
   * Conversation between the planner and the model, without the instructions. If the option `transcript` is
   * `facts`, the conversation starts at the current turn.
   */
  readonly messages: readonly ModelMessage[];
  /** Problems with the model's earlier replies in the current turn. */
  readonly replyProblems: readonly ("useless" | "early")[];
  readonly isPaused: boolean;
}

/** An error that the planner reports to the requester while the task continues. */
export type PlannerErrorNotice = Extract<TaskOutcome, { error: string }>;

/** Creates the initial planner state for a task. */
export function createPlannerState(settings: PlannerSettings, task: TaskCard): PlannerState {
  return {
    settings,
    task,
    limits: resolveLimits(settings, task),
    turn: 1,
    findings: [],
    solverCalls: 0,
    tokensSpent: 0,
    messages: [],
    replyProblems: [],
    isPaused: false,
  };
}

/**
 * Applies a control card to the planner state. `notice` reports invalid parameters. The function ignores the
 * control card `stop`, because the `TaskContext` handles it.
 */
export function applyControlCardToState(
  state: PlannerState,
  card: ControlCard,
): { state: PlannerState; notice?: PlannerErrorNotice } {
  switch (card.content) {
    case "pause":
      return { state: { ...state, isPaused: true } };
    case "resume":
      return { state: { ...state, isPaused: false } };
    case "budget": {
      const limits: { -readonly [Name in keyof PlannerLimits]: number } = { ...state.limits };
      const invalidNames: string[] = [];
      for (const [name, value] of Object.entries(card.metadata.parameters ?? {})) {
        const limit = PLANNER_LIMIT_BY_CONTROL_CARD_PARAMETER[name];
        if (limit && typeof value === "number" && value >= 0) limits[limit] = value;
        else invalidNames.push(name);
      }
      const changed = { state: { ...state, limits } };
      if (invalidNames.length === 0) return changed;
      const error = `The budget card has invalid parameters: ${invalidNames.join(", ")}. Use numbers of at least 0 for ${Object.keys(PLANNER_LIMIT_BY_CONTROL_CARD_PARAMETER).join(", ")}.`;
      return { ...changed, notice: { error, errorType: "protocol_violation" } };
    }
    default:
      return { state };
  }
}

const PLANNER_LIMIT_BY_CONTROL_CARD_PARAMETER: Readonly<Record<string, keyof PlannerLimits>> = {
  max_turns: "maxTurns",
  max_solver_calls: "maxSolverCalls",
  token_budget: "tokenBudget",
};

/**
 * Returns whether the planner may call a solver in the current turn. In the last turn, the planner may not
 * call a solver, because no later turn could use the reply.
 */
export function canCallSolver({ turn, limits, solverCalls }: PlannerState): boolean {
  return turn < limits.maxTurns && solverCalls < limits.maxSolverCalls;
}

/** Returns the partial outcome of a stopped planner, or `undefined` if no solver has returned an answer. */
export function findPartialOutcome(state: PlannerState, errorType: string): TaskOutcome | undefined {
  const best = findLatestAnswer(state);
  return best === undefined ? undefined : createPartialOutcome(state, best, errorType);
}

/** Creates a `partial` outcome. `errorType` names the limit or the stop that ended the work. */
export function createPartialOutcome(
  { turn, limits }: PlannerState,
  result: string,
  errorType: string,
): TaskOutcome {
  return {
    result,
    status: "partial",
    metadata: { turn: Math.max(1, Math.min(turn, limits.maxTurns)), error_type: errorType },
  };
}

/** Returns the latest answer from a solver. */
export function findLatestAnswer({ findings }: PlannerState): string | undefined {
  return findings.findLast(({ status }) => status !== "error")?.answer;
}

/** Converts a solver's reply to a finding of the planner. */
export function toSolverFinding(
  subtask: Subtask,
  reply: ResultCard | ErrorCard,
  documents: readonly string[] | undefined,
): SolverFinding {
  return {
    id: subtask.id,
    subtask: subtask.task,
    status: reply.message_type === "error" ? "error" : reply.metadata.status,
    answer: reply.content,
    ...(documents && { documentTitles: documents }),
  };
}

/**
 * A subtask that a planner assigns to a solver. The text of a subtask can contain placeholders for answers to
 * other subtasks, such as `{s1}`.
 */
export interface Subtask {
  readonly id: string;
  readonly task: string;
  /** Titles or ids of the documents that the solver receives. */
  readonly documents?: readonly string[];
}

/** Returns the ids of the subtasks that a text refers to. */
export function listSubtaskDependencies(task: string, ids: ReadonlySet<string>): string[] {
  const named = [...task.matchAll(PLACEHOLDER_PATTERN)].map(([, id = ""]) => id);
  return [...new Set(named)].filter((id) => ids.has(id));
}

/**
 * Returns a description of the first error in a batch of subtasks, for example a duplicate id or a cycle.
 * Returns `undefined` for a valid batch of subtasks.
 */
export function findDependencyProblem(
  batch: readonly Subtask[],
  known: ReadonlySet<string>,
): string | undefined {
  const ids = new Set(batch.map(({ id }) => id));
  if (ids.size < batch.length) return "two subtasks have the same id";
  for (const { id, task } of batch) {
    const unresolved = [...task.matchAll(PLACEHOLDER_PATTERN)].find(
      ([, name = ""]) => SUBTASK_ID_PATTERN.test(name) && !ids.has(name) && !known.has(name),
    );
    if (unresolved) return `subtask ${id} refers to ${unresolved[0]}, but no subtask has this id`;
  }
  const remaining = new Map(batch.map(({ id, task }) => [id, listSubtaskDependencies(task, ids)]));
  for (;;) {
    const ready = [...remaining].filter(([, others]) => !others.some((other) => remaining.has(other)));
    if (ready.length === 0) break;
    for (const [id] of ready) remaining.delete(id);
  }
  return remaining.size > 0
    ? `the subtasks ${[...remaining.keys()].join(", ")} depend on each other`
    : undefined;
}

/** Replaces placeholders in a subtask with answers. Placeholders stay unchanged if no answer exists. */
export function fillPlaceholders(task: string, answers: ReadonlyMap<string, string>): string {
  return task.replaceAll(PLACEHOLDER_PATTERN, (whole, id: string) => answers.get(id) ?? whole);
}

const PLACEHOLDER_PATTERN = /\{([A-Za-z][\w-]*)\}/g;
/**
 * Pattern of subtask ids, which matches the format that the prompt specifies. Other words in braces can occur
 * in a problem and are not placeholders.
 */
const SUBTASK_ID_PATTERN = /^s\d+$/;
