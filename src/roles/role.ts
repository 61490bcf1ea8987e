import type {
  CardMetadata,
  ControlCard,
  CoreCardErrorType,
  ErrorCard,
  QueryCard,
  ResultCard,
  ResultCardStatus,
  TaskCard,
} from "../cards/index.ts";
import type { JsonObject } from "../protocol/index.ts";
import type { ModelReply, ModelRequest } from "./role-model.ts";

/**
 * A role, which performs tasks and answers queries. A role works with message cards and is independent of
 * their transport.
 */
export interface Role {
  /**
   * Name of the role on message cards: `planner`, `solver`, or another role that the card protocol defines.
   */
  readonly name: string;
  /** Description of the role for people and for the A2A agent card. */
  readonly description: string;
  /**
   * Performs the task and returns its outcome. An exception becomes an `ErrorCard`. After `signal` aborts,
   * the role can still return a `partial` result within the grace period.
   */
  performTask(taskContext: TaskContext): Promise<TaskOutcome>;
  /**
   * Answers a query, either from a role that works on a subtask for this role, or from another role directly.
   * When this method is missing or returns `undefined`, the query gets no answer and its sender continues
   * without one.
   */
  answerQuery?(
    query: QueryCard,
    taskContext: Pick<TaskContext, "callModel" | "signal">,
  ): Promise<QueryAnswer | undefined>;
}

/** The answer to a query. `selected` names the chosen options. */
export interface QueryAnswer {
  readonly result: string;
  readonly selected?: string | readonly string[];
}

/** The outcome of a task: a result or an error. Each task has exactly one outcome. */
export type TaskOutcome =
  | { readonly result: string; readonly status: ResultCardStatus; readonly metadata?: CardMetadata }
  | {
      readonly error: string;
      readonly errorType: CoreCardErrorType | (string & {});
      readonly retryable?: boolean;
    };

/**
 * The interface between a role and its environment while the role performs one task. Every model call and
 * every card goes through this interface, so all of them are recorded. The usage of each model call is
 * reported on exactly one card, the next one that the role sends.
 */
export interface TaskContext {
  readonly task: TaskCard;
  /**
   * Signal that aborts when the task is stopped, canceled, or out of time. The abort reason is the control
   * card, when there is one.
   */
  readonly signal: AbortSignal;
  /** Calls the model of the role. */
  callModel(request: Omit<ModelRequest, "role" | "signal">): Promise<ModelReply>;
  /**
   * Sends a task to another role and resolves with its final reply. Failures of the other role or of the
   * transport resolve as an `ErrorCard`. Queries from the other role are answered by `answerQuery` of this
   * role, or declined. Rejects with the reason of `signal`, or with `INVALID_PARAMS` when the request does
   * not form a valid card.
   */
  delegate(task: DelegationRequest): Promise<ResultCard | ErrorCard>;
  /**
   * Sends a query to another role, or to the requester of the task (A2A state `INPUT_REQUIRED`), and resolves
   * with the answer. The status of the answer is `error` when the recipient has no answer. Transport failures
   * resolve as an `ErrorCard`. The requester receives one query at a time.
   */
  sendQuery(query: QueryRequest): Promise<ResultCard | ErrorCard>;
  /** Reports an error without ending the task: sends an `ErrorCard` that replies to no card. */
  sendNotice(error: Extract<TaskOutcome, { error: string }>): void;
  /**
   * Returns and removes the control cards, for example `budget`, that arrived since the last call. `stop` is
   * not among them, because it aborts `signal`.
   */
  takeControlCards(): ControlCard[];
  /**
   * Resolves when `takeControlCards` has a card to return. A paused role waits for it. Rejects with the
   * reason of `signal`.
   */
  waitForControlCard(): Promise<void>;
}

/** A subtask that a role sends to another role. */
export interface DelegationRequest {
  readonly to: string;
  readonly task: string;
  readonly context?: JsonObject;
  readonly turn?: number;
  readonly forced?: boolean;
  /** Number of the attempt, from 1. */
  readonly attempt?: number;
  readonly metadata?: CardMetadata;
  /** Time limit of this subtask in milliseconds. The signal of the task context also applies. */
  readonly deadlineMs?: number;
}

/** A question that a role asks while it performs a task. */
export interface QueryRequest {
  readonly query: string;
  /** Role that receives the query. Default: the requester of the task. */
  readonly to?: string;
  readonly options?: readonly string[];
  readonly multiple?: boolean;
}
