import type { ControlCard, ErrorCard, ResultCard, TaskCard } from "../../cards/index.ts";
import type { SolverFinding, ModelMessage } from "../role-model.ts";
import type { TaskOutcome } from "../role.ts";
import { type PlannerLimits, resolveLimits, type PlannerSettings } from "./planner-options.ts";
import type { Subtask } from "./placeholders.ts";

/** All that a planner knows between two steps. */
export interface PlannerState {
  readonly settings: PlannerSettings;
  readonly task: TaskCard;
  readonly limits: PlannerLimits;
  /** From 1. */
  readonly turn: number;
  readonly findings: readonly SolverFinding[];
  /** Subtasks given. */
  readonly solverCalls: number;
  /** Tokens spent, its own and those of its solvers. */
  readonly tokensSpent: number;
  /** What the model was told and said, without its instructions; in a transcript of facts, since the turn began. */
  readonly messages: readonly ModelMessage[];
  /** What was wrong with earlier replies of this turn. */
  readonly replyProblems: readonly ("useless" | "early")[];
  readonly isPaused: boolean;
}

export type PlannerNotice = Extract<TaskOutcome, { error: string }>;

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

/** What a control card changes, and what there is to say against it. `stop` is the desk's affair. */
export function applyControl(
  state: PlannerState,
  card: ControlCard,
): { state: PlannerState; notice?: PlannerNotice } {
  switch (card.content) {
    case "pause":
      return { state: { ...state, isPaused: true } };
    case "resume":
      return { state: { ...state, isPaused: false } };
    case "budget": {
      const limits: { -readonly [Name in keyof PlannerLimits]: number } = { ...state.limits };
      const invalidNames: string[] = [];
      for (const [name, value] of Object.entries(card.metadata.parameters ?? {})) {
        const limit = BUDGET_PARAMETERS[name];
        if (limit && typeof value === "number" && value >= 0) limits[limit] = value;
        else invalidNames.push(name);
      }
      const changed = { state: { ...state, limits } };
      if (invalidNames.length === 0) return changed;
      const error = `The budget card has ${invalidNames.join(", ")}, which says nothing here; numbers from 0 for ${Object.keys(BUDGET_PARAMETERS).join(", ")} do.`;
      return { ...changed, notice: { error, errorType: "protocol_violation" } };
    }
    default:
      return { state };
  }
}

const BUDGET_PARAMETERS: Readonly<Record<string, keyof PlannerLimits>> = {
  max_turns: "maxTurns",
  max_solver_calls: "maxSolverCalls",
  token_budget: "tokenBudget",
};

/** After the last turn nobody would make anything of what a solver finds. */
export function canCallSolver({ turn, limits, solverCalls }: PlannerState): boolean {
  return turn < limits.maxTurns && solverCalls < limits.maxSolverCalls;
}

/** As far as it came, when it is stopped in the middle; nothing, when nothing was found. */
export function findPartialOutcome(state: PlannerState, errorType: string): TaskOutcome | undefined {
  const best = findLatestAnswer(state);
  return best === undefined ? undefined : createPartialOutcome(state, best, errorType);
}

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

/** The last that a solver found. */
export function findLatestAnswer({ findings }: PlannerState): string | undefined {
  return findings.findLast(({ status }) => status !== "error")?.answer;
}

/** What a solver's reply says, as a finding. */
export function toFinding(
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
