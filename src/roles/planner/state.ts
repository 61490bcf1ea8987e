import type { ControlCard, ErrorCard, ResultCard, TaskCard } from "../../cards/index.ts";
import type { Finding, ModelMessage } from "../model.ts";
import type { Answer } from "../role.ts";
import { type Limits, limitsOf, type Settings } from "./options.ts";
import type { Subtask } from "./placeholders.ts";

/** All that a planner knows between two steps. */
export interface PlannerState {
  readonly settings: Settings;
  readonly task: TaskCard;
  readonly limits: Limits;
  /** From 1. */
  readonly turn: number;
  readonly findings: readonly Finding[];
  /** Subtasks given. */
  readonly calls: number;
  /** Tokens spent, its own and those of its solvers. */
  readonly tokens: number;
  /** What the model was told and said, without its instructions; in a transcript of facts, since the turn began. */
  readonly said: readonly ModelMessage[];
  /** What was wrong with earlier replies of this turn. */
  readonly complaints: readonly ("useless" | "early")[];
  readonly paused: boolean;
}

export type Notice = Extract<Answer, { error: string }>;

export function begin(settings: Settings, task: TaskCard): PlannerState {
  return {
    settings,
    task,
    limits: limitsOf(settings, task),
    turn: 1,
    findings: [],
    calls: 0,
    tokens: 0,
    said: [],
    complaints: [],
    paused: false,
  };
}

/** What a control card changes, and what there is to say against it. `stop` is the desk's affair. */
export function heed(state: PlannerState, card: ControlCard): { state: PlannerState; notice?: Notice } {
  switch (card.content) {
    case "pause":
      return { state: { ...state, paused: true } };
    case "resume":
      return { state: { ...state, paused: false } };
    case "budget": {
      const limits: { -readonly [Name in keyof Limits]: number } = { ...state.limits };
      const wrong: string[] = [];
      for (const [name, value] of Object.entries(card.metadata.parameters ?? {})) {
        const limit = BUDGET[name];
        if (limit && typeof value === "number" && value >= 0) limits[limit] = value;
        else wrong.push(name);
      }
      const changed = { state: { ...state, limits } };
      if (wrong.length === 0) return changed;
      const error = `The budget card has ${wrong.join(", ")}, which says nothing here; numbers from 0 for ${Object.keys(BUDGET).join(", ")} do.`;
      return { ...changed, notice: { error, errorType: "protocol_violation" } };
    }
    default:
      return { state };
  }
}

const BUDGET: Readonly<Record<string, keyof Limits>> = {
  max_turns: "turns",
  max_solver_calls: "calls",
  token_budget: "tokens",
};

/** After the last turn nobody would make anything of what a solver finds. */
export function mayCall({ turn, limits, calls }: PlannerState): boolean {
  return turn < limits.turns && calls < limits.calls;
}

/** As far as it came, when it is stopped in the middle; nothing, when nothing was found. */
export function soFar(state: PlannerState, errorType: string): Answer | undefined {
  const best = bestOf(state);
  return best === undefined ? undefined : partial(state, best, errorType);
}

export function partial({ turn, limits }: PlannerState, result: string, errorType: string): Answer {
  return {
    result,
    status: "partial",
    metadata: { turn: Math.max(1, Math.min(turn, limits.turns)), error_type: errorType },
  };
}

/** The last that a solver found. */
export function bestOf({ findings }: PlannerState): string | undefined {
  return findings.findLast(({ status }) => status !== "error")?.answer;
}

/** What a solver's reply says, as a finding. */
export function findingOf(
  subtask: Subtask,
  reply: ResultCard | ErrorCard,
  documents: readonly string[] | undefined,
): Finding {
  return {
    id: subtask.id,
    subtask: subtask.task,
    status: reply.message_type === "error" ? "error" : reply.metadata.status,
    answer: reply.content,
    ...(documents && { documents }),
  };
}
