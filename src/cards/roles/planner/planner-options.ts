import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import type { CoreCardErrorType, TaskCard } from "../../index.ts";
import { A2AError, type JsonObject } from "../../../protocol/index.ts";
import {
  getTaskDatasetName,
  parseContextDocuments,
  selectContextDocumentsByName,
} from "../context-documents.ts";

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
export interface PlannerLimits {
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
export function resolveLimits(settings: PlannerSettings, task: TaskCard): PlannerLimits {
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
