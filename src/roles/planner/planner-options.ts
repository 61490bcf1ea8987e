import type { CoreCardErrorType, TaskCard } from "../../cards/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { getDatasetName } from "../dataset-name.ts";
import type { ContextPolicy } from "./context-policy.ts";

export interface PlannerOptions {
  /** As it stands on cards. Default `planner`. */
  readonly name?: string;
  /** The role that subtasks go to. Default `solver`. */
  readonly solver?: string;
  /**
   * `chained`: a subtask a turn, chosen by what is known. `parallel`: several a turn, those that need no other at once.
   * `plan-first`: all subtasks in the first turn, the answer in the second. Default `chained`.
   */
  readonly mode?: PlannerMode;
  /**
   * When the model wants to answer before any solver was called: ask once more and then send the solver the whole
   * problem (`force`, the default), ask once more and then accept it (`reprompt`), or accept it (`allow`).
   */
  readonly forceFirstSolver?: "force" | "reprompt" | "allow";
  /**
   * What the model is shown again in each turn: the problem and what was found (`facts`, the default), or the whole
   * conversation (`history`), whose tokens grow with the square of the turns.
   */
  readonly transcript?: "facts" | "history";
  /** What of the task's context the solver is shown. Default `routed`, which without documents is `none`. */
  readonly context?: ContextPolicy;
  /**
   * Turns of the planner: decisions of its model, of which the last can only be the answer. Default by the task's
   * dataset: 3 for `gsm8k`, 5 for `hotpotqa` and all others. Asking again within a turn does not count.
   */
  readonly maxTurns?: number;
  /** Subtasks in all; trying one again does not count. Default: as many as fit into the turns. */
  readonly maxSolverCalls?: number;
  /** Input and output tokens of the planner and its solvers; no model is called once they are spent. Default: none. */
  readonly tokenBudget?: number;
  /** How often a subtask is tried again, by `error_type`. Default: once when the error says `retryable`. */
  readonly retries?: Readonly<Partial<Record<CoreCardErrorType | (string & {}), number>>>;
  /** Of an answer of the model. Default: the model's own limit. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly seed?: number;
}

export type PlannerMode = "chained" | "plan-first" | "parallel";

/** The options with their defaults; limits aside, which depend on the task. */
export type PlannerSettings = Required<
  Pick<PlannerOptions, "name" | "solver" | "mode" | "forceFirstSolver" | "transcript" | "context" | "retries">
> &
  Pick<PlannerOptions, "maxTurns" | "maxSolverCalls" | "tokenBudget" | "maxTokens" | "temperature" | "seed">;

/** What a task may cost. A `budget` card changes it: `max_turns`, `max_solver_calls`, `token_budget`. */
export interface PlannerLimits {
  readonly maxTurns: number;
  readonly maxSolverCalls: number;
  readonly tokenBudget: number;
}

/** Throws INVALID_PARAMS for limits that no task could be done in. */
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
      throw createInvalidOptionsError(`${name} is ${value}; give a whole number`);
  }
  if (tokenBudget !== undefined && !(tokenBudget >= 1))
    throw createInvalidOptionsError(`tokenBudget is ${tokenBudget}; give 1 or more`);
  if (maxTurns === 0) throw createInvalidOptionsError("maxTurns is 0; give 1 or more");
  const mustCallSolver = forceFirstSolver !== "allow" || mode === "plan-first";
  if (mustCallSolver && maxTurns !== undefined && maxTurns < 2)
    throw createInvalidOptionsError(
      "with maxTurns 1 there is no turn left to answer in after a solver was called; give 2 or more, " +
        'or forceFirstSolver "allow" in mode "chained" or "parallel"',
    );
  if (mustCallSolver && maxSolverCalls === 0)
    throw createInvalidOptionsError(
      "maxSolverCalls is 0, and the first turn has to call a solver; give 1 or more",
    );
  return settings;
}

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
  return new A2AError("INVALID_PARAMS", `No planner can work so: ${problem}.`);
}
