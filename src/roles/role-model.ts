import type { CardTokenUsage, EvidenceKind, ResultCardStatus, TaskCard } from "../cards/index.ts";
import type { JsonObject } from "../protocol/index.ts";

/** What answers for a role: a language model, or something that stands in for one. */
export interface RoleModel {
  /** As it is called in records and tables, for example `openai:gpt-5-mini` or `oracle`. */
  readonly id: string;
  readonly evidenceKind: EvidenceKind;
  /** Rejects when the model cannot be had; with what `signal` was aborted with, when it was. */
  complete(request: ModelRequest): Promise<ModelReply>;
}

export interface ModelRequest {
  /** The role that asks. */
  readonly role: string;
  /** What is asked, as data, for those that do not read prose. `messages` say the same. */
  readonly input: ModelInput;
  readonly messages: readonly ModelMessage[];
  /** JSON Schema of the answer, when it is to be JSON. */
  readonly schema?: JsonObject;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly seed?: number;
  readonly signal: AbortSignal;
}

export interface ModelMessage {
  readonly role: "system" | "user" | "assistant";
  readonly text: string;
}

export type ModelInput = PlanInput | SolveInput | AnswerInput;

/** The planner's next action. */
export interface PlanInput {
  readonly kind: "plan";
  /** The controller's task. */
  readonly task: TaskCard;
  /** What solvers have found so far, in order. */
  readonly findings: readonly SolverFinding[];
  /** From 1; on the last only a final answer helps. */
  readonly turn: number;
  readonly maxTurns: number;
  /** The solver calls that are left; `undefined` without a limit. */
  readonly solverCallsLeft: number | undefined;
  /** How the planner works: `chained`, `plan-first`, `parallel`. */
  readonly mode: string;
  /** Why the last answer was of no use, when it is asked again. */
  readonly rejectionReason?: string;
}

export interface SolverFinding {
  /** The name that the planner gave the subtask, where it gave one. */
  readonly id?: string;
  readonly subtask: string;
  /** Of the solver's reply; `error`: `answer` says what went wrong. */
  readonly status: ResultCardStatus;
  readonly answer: string;
  /** Titles of the documents that the solver was shown. */
  readonly documentTitles?: readonly string[];
}

/** A solver's subtask. */
export interface SolveInput {
  readonly kind: "solve";
  readonly task: TaskCard;
}

/** A whole problem at once, without a planner. */
export interface AnswerInput {
  readonly kind: "answer";
  readonly task: TaskCard;
  /** With or without a chain of thought. */
  readonly style: "cot" | "direct";
  /** Which of several samples of the same question, from 1. */
  readonly sampleNumber: number;
}

export interface ModelReply {
  readonly text: string;
  /** What it spent. Missing: nobody knows. */
  readonly usage?: CardTokenUsage;
  /** Why it stopped: `stop`, `length`, `filter` … */
  readonly finish: string;
  /** The model that answered, where that is more exact than `id`. */
  readonly model?: string;
}
