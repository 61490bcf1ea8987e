import type { CoreCardErrorType, TaskCard } from "../../cards/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { getDatasetName } from "../dataset-name.ts";
import type { ContextPolicy } from "./context-policy.ts";

/** Options for `createPlanner`. */
export interface PlannerOptions {
  /** Name of the role on message cards. Default: `planner`. */
  readonly name?: string;
  /** Role that receives the subtasks. Default: `solver`. */
  readonly solver?: string;
  /**
   * How the planner dispatches subtasks. `chained` sends one subtask per turn, based on earlier answers.
   * `parallel` sends several subtasks per turn and runs independent ones at the same time. `plan-first` sends
   * all subtasks in the first turn and answers in the second. Default: `chained`.
   */
  readonly mode?: PlannerMode;
  /**
   * How the planner handles an answer before any solver was called. `force` repeats the request once, and
   * then sends the entire problem to the solver. `reprompt` repeats the request once, and then accepts the
   * answer. `allow` accepts the answer. Default: `force`.
   */
  readonly forceFirstSolver?: "force" | "reprompt" | "allow";
  /**
   * Whether each prompt repeats the problem and the findings (`facts`) or the complete conversation
   * (`history`). With `history`, the total number of tokens grows quadratically with the turns. Default:
   * `facts`.
   */
  readonly transcript?: "facts" | "history";
  /**
   * Which part of the task's context a solver receives. Default: `routed`, which equals `none` for a task
   * without documents.
   */
  readonly context?: ContextPolicy;
  /**
   * Maximum number of turns. In each turn, the model decides once. In the last turn, the model can only
   * answer. A repeated request within a turn does not count. The default depends on the dataset of the task,
   * and is 3 for `gsm8k` and 5 for all others.
   */
  readonly maxTurns?: number;
  /**
   * Maximum number of subtasks. A retry does not count. By default, only the number of turns limits the
   * subtasks.
   */
  readonly maxSolverCalls?: number;
  /**
   * Maximum number of input and output tokens of the planner and its solvers. Once these tokens are spent,
   * the planner does not call a model again. Default: no limit.
   */
  readonly tokenBudget?: number;
  /**
   * Number of retries of a subtask by `error_type`. By default, a subtask is retried once after a `retryable`
   * error.
   */
  readonly retries?: Readonly<Partial<Record<CoreCardErrorType | (string & {}), number>>>;
  /** Maximum number of tokens of one reply. Default: the limit of the model. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly seed?: number;
}

/** How a planner dispatches subtasks. See `PlannerOptions.mode`. */
export type PlannerMode = "chained" | "plan-first" | "parallel";

/**
 * Planner options with defaults applied. The limits stay optional, because their defaults depend on the task.
 */
export type PlannerSettings = Required<
  Pick<PlannerOptions, "name" | "solver" | "mode" | "forceFirstSolver" | "transcript" | "context" | "retries">
> &
  Pick<PlannerOptions, "maxTurns" | "maxSolverCalls" | "tokenBudget" | "maxTokens" | "temperature" | "seed">;

/**
 * Limits of one task. A `budget` card changes them with `max_turns`, `max_solver_calls`, and `token_budget`.
 */
export interface PlannerLimits {
  readonly maxTurns: number;
  readonly maxSolverCalls: number;
  readonly tokenBudget: number;
}

/**
 * Applies the defaults to planner options. Throws `INVALID_PARAMS` for limits that make every task
 * impossible.
 */
export function resolveSettings(options: PlannerOptions): PlannerSettings {
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

/** Returns the limits of a task, with the defaults of its dataset. */
export function resolveLimits(settings: PlannerSettings, task: TaskCard): PlannerLimits {
  const {
    mode,
    maxTurns = DEFAULT_MAX_TURNS[getDatasetName(task)] ?? 5,
    maxSolverCalls,
    tokenBudget,
  } = settings;
  return {
    maxTurns: mode === "plan-first" ? Math.min(2, maxTurns) : maxTurns,
    maxSolverCalls: maxSolverCalls ?? Infinity,
    tokenBudget: tokenBudget ?? Infinity,
  };
}

const DEFAULT_MAX_TURNS: Readonly<Record<string, number>> = { gsm8k: 3, hotpotqa: 5 };

function createInvalidOptionsError(problem: string): A2AError {
  return new A2AError("INVALID_PARAMS", `Invalid planner options: ${problem}.`);
}
