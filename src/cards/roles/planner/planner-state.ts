import type { ErrorCard, ResultCard, TaskCard, CoreCardErrorType } from "../../index.ts";
import type { ModelMessage, SolverFinding } from "../role-model.ts";
import type { TaskOutcome } from "../role.ts";
import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { A2AError, type JsonObject } from "../../../protocol/index.ts";
import {
  getTaskDatasetName,
  parseContextDocuments,
  selectContextDocumentsByName,
} from "../context-documents.ts";

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
  };
}

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

/** Options for `createPlanner`. */
export interface PlannerOptions {
  /** Name of the planner role on message cards. Default: `planner`. */
  readonly name?: string;
  /** Name of the role that receives the subtasks. Default: `solver`. */
  readonly solver?: string;
  /**
   * Mode that determines how the planner dispatches subtasks. In mode `chained`, the planner sends one
   * subtask per turn, and each subtask can use earlier answers. In mode `parallel`, the planner sends several
   * subtasks per turn, and independent subtasks run at the same time. In mode `plan-first`, the planner sends
   * all subtasks in the first turn and answers in the second turn. Default: `chained`.
   */
  readonly mode?: PlannerDispatchMode;
  /**
   * Policy that applies when the model answers before any solver call. `force` repeats the model request
   * once, and then sends the entire problem to the solver. `reprompt` repeats the model request once, and
   * then accepts the answer. `allow` accepts the answer. Default: `force`.
   */
  readonly forceFirstSolver?: "force" | "reprompt" | "allow";
  /**
   * Content of each prompt. With `facts`, a prompt contains the problem and the solver replies. With
   * `history`, a prompt contains the complete conversation. In `history` mode, the total number of prompt
   * tokens grows quadratically with the number of turns. Default: `facts`.
   */
  readonly transcript?: "facts" | "history";
  /**
   * Policy that selects the part of the task context that a solver receives. The default policy is `routed`,
   * which sends no context if the task has no documents.
   */
  readonly context?: SubtaskDocumentContextPolicy;
  /**
   * Maximum number of planner turns. The model makes one decision in each turn. In the last turn, the
   * planner's model can only answer. If the planner repeats a model request, the repetition does not count as
   * a new turn. The default number of turns is 3 for `gsm8k` tasks and 5 for all other tasks.
   */
  readonly maxTurns?: number;
  /**
   * Maximum number of subtasks, excluding retries. By default, only the number of turns limits the number of
   * subtasks.
   */
  readonly maxSolverCalls?: number;
  /**
   * Maximum number of input and output tokens that the planner and its solvers may use. When the token budget is
   * spent, the planner neither calls its model nor sends subtasks. A reply of the planner's model has at most as many
   * tokens as the budget has left. Only the prompt of the last call and the answers of solvers can exceed the budget.
   * Default: no limit.
   */
  readonly tokenBudget?: number;
  /**
   * Number of times the planner retries a subtask, for each `error_type`. By default, the planner retries a
   * subtask once after a `retryable` error.
   */
  readonly retries?: Readonly<Partial<Record<CoreCardErrorType | (string & {}), number>>>;
  /** Maximum number of tokens in one model reply. By default, the model's own limit applies. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly seed?: number;
  /**
   * First lines of the system prompt, which describe the work of the planner. The list of actions follows. Default: the
   * instructions of the package.
   */
  readonly instructions?: string;
}

const assertKnownOptions = defineOptionNames<PlannerOptions>()(
  "createPlanner",
  "context forceFirstSolver instructions maxSolverCalls maxTokens maxTurns mode name retries seed solver",
  "temperature tokenBudget transcript",
);

/** Mode that determines how a planner dispatches subtasks. See `PlannerOptions.mode`. */
export type PlannerDispatchMode = "chained" | "plan-first" | "parallel";

/**
 * Planner options with defaults applied. The limits are still optional, because their defaults depend on the
 * task.
 */
export type PlannerSettings = Required<
  Pick<PlannerOptions, "name" | "solver" | "mode" | "forceFirstSolver" | "transcript" | "context" | "retries">
> &
  Pick<
    PlannerOptions,
    "maxTurns" | "maxSolverCalls" | "tokenBudget" | "maxTokens" | "temperature" | "seed" | "instructions"
  >;

/**
 * Planner limits for one task. The parameters `max_turns`, `max_solver_calls`, and `token_budget` of a
 * `budget` control card change the limits.
 */
interface PlannerLimits {
  readonly maxTurns: number;
  readonly maxSolverCalls: number;
  readonly tokenBudget: number;
}

/**
 * Applies the defaults to planner options. Throws `INVALID_PARAMS` if the limits are too low for any task.
 */
export function resolveSettings(options: PlannerOptions): PlannerSettings {
  assertKnownOptions(options);
  const settings: PlannerSettings = {
    name: "planner",
    solver: "solver",
    mode: "chained",
    forceFirstSolver: "force",
    transcript: "facts",
    context: "routed",
    retries: {},
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
  };
  const { maxTurns, maxSolverCalls, tokenBudget, forceFirstSolver, mode } = settings;
  for (const [name, value] of Object.entries({ maxTurns, maxSolverCalls })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0))
      throw createInvalidOptionsError(`${name} is ${value}. Set it to an integer of at least 0`);
  }
  if (tokenBudget !== undefined && !(tokenBudget >= 1))
    throw createInvalidOptionsError(`tokenBudget is ${tokenBudget}. Set it to at least 1`);
  if (maxTurns === 0) throw createInvalidOptionsError("maxTurns is 0. Set it to at least 1");
  const mustCallSolver = forceFirstSolver !== "allow" || mode === "plan-first";
  if (mustCallSolver && maxTurns !== undefined && maxTurns < 2)
    throw createInvalidOptionsError(
      "maxTurns is 1, which leaves no turn for the answer after a solver call. Set it to at least 2, " +
        'or set forceFirstSolver to "allow" in mode "chained" or "parallel"',
    );
  if (mustCallSolver && maxSolverCalls === 0)
    throw createInvalidOptionsError(
      "maxSolverCalls is 0, but the first turn must call a solver. Set it to at least 1",
    );
  return settings;
}

/** Returns the planner limits for a task, with the defaults for the task's dataset. */
function resolveLimits(settings: PlannerSettings, task: TaskCard): PlannerLimits {
  const {
    mode,
    maxTurns = DEFAULT_MAX_TURNS_BY_DATASET.get(getTaskDatasetName(task)) ?? 5,
    maxSolverCalls,
    tokenBudget,
  } = settings;
  return {
    maxTurns: mode === "plan-first" ? Math.min(2, maxTurns) : maxTurns,
    maxSolverCalls: maxSolverCalls ?? Infinity,
    tokenBudget: tokenBudget ?? Infinity,
  };
}

const DEFAULT_MAX_TURNS_BY_DATASET: ReadonlyMap<string, number> = new Map([
  ["gsm8k", 3],
  ["hotpotqa", 5],
]);

function createInvalidOptionsError(problem: string): A2AError {
  return new A2AError("INVALID_PARAMS", `Invalid planner options: ${problem}.`);
}

/**
 * Policy that selects the task context that a solver receives.
 *
 * - `none`: solvers receive no context. Only the planner reads the documents.
 * - `full`: solvers receive the entire context. The planner sees only the document titles.
 * - `routed`: solvers receive only the documents that the planner selects for the subtask.
 * - A function: solvers receive the context that the function returns for the subtask.
 */
export type SubtaskDocumentContextPolicy = "none" | "full" | "routed" | ContextBuilder;

/** Builds the task context for a subtask. `documents` contains the titles that the planner selected. */
export type ContextBuilder = (
  subtask: { readonly task: string; readonly documents?: readonly string[] },
  task: TaskCard,
) => JsonObject | undefined;

/** Returns the context of a subtask and the titles of the documents in the context. */
export function selectSubtaskDocumentContextByPolicy(
  policy: SubtaskDocumentContextPolicy,
  subtask: Parameters<ContextBuilder>[0],
  task: TaskCard,
): { readonly context?: JsonObject; readonly titles?: readonly string[] } {
  const fullContext = task.metadata.context;
  if (policy === "none") return {};
  if (policy === "routed") {
    if (!subtask.documents) return {};
    const { context, titles } = selectContextDocumentsByName(fullContext, subtask.documents);
    return titles.length > 0 ? { context, titles } : {};
  }
  const context = policy === "full" ? fullContext : policy(subtask, task);
  if (context === undefined) return {};
  const titles = parseContextDocuments(context).map(({ title }) => title);
  return titles.length > 0 ? { context, titles } : { context };
}
