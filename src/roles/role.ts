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

/** What a role does with a task; knows cards, and nothing of how they travel. */
export interface Role {
  /** As it stands on cards: `planner`, `solver`, or a name that the protocol was told of. */
  readonly name: string;
  /** For people and for the agent card. */
  readonly description: string;
  /**
   * Answers the task. What it throws becomes an ErrorCard; when the signal aborts, it may still return what it has, as
   * `partial`, within the grace period.
   */
  performTask(taskContext: TaskContext): Promise<TaskOutcome>;
  /**
   * Answers a question: of a role that it has given a task, or of one that sends it nothing else. Undefined, and without
   * this: there is no answer, and whoever asked goes on without one.
   */
  answerQuery?(
    query: QueryCard,
    taskContext: Pick<TaskContext, "callModel" | "signal">,
  ): Promise<QueryAnswer | undefined>;
}

/** The answer to a question; `selected`: which of its options. */
export interface QueryAnswer {
  readonly result: string;
  readonly selected?: string | readonly string[];
}

/** The one reply that a task gets. */
export type TaskOutcome =
  | { readonly result: string; readonly status: ResultCardStatus; readonly metadata?: CardMetadata }
  | {
      readonly error: string;
      readonly errorType: CoreCardErrorType | (string & {});
      readonly retryable?: boolean;
    };

/**
 * Where a role works on one task: whatever it does to the world, it does from here, so that every card and every model
 * call is on record, and what is spent is on exactly one card: the next that leaves.
 */
export interface TaskContext {
  readonly task: TaskCard;
  /** Aborts when the task is stopped, cancelled or out of time. Its reason is the ControlCard, where there was one. */
  readonly signal: AbortSignal;
  /** Calls the role's model. */
  callModel(request: Omit<ModelRequest, "role" | "signal">): Promise<ModelReply>;
  /**
   * Sends a task to another role and waits for its terminal reply. What goes wrong there or on the way comes back as an
   * ErrorCard; a query of the other is answered by the role's own `answerQuery`, or refused. Rejects with the signal's reason, and
   * with INVALID_PARAMS for what cannot be a card.
   */
  delegate(task: DelegationRequest): Promise<ResultCard | ErrorCard>;
  /**
   * Asks whoever gave the task (INPUT_REQUIRED), or another role, and waits for the answer; its status is `error` where
   * there is none. What goes wrong on the way comes back as an ErrorCard. One question at a time goes to the giver.
   */
  sendQuery(query: QueryRequest): Promise<ResultCard | ErrorCard>;
  /** Says that something went wrong without ending the task: an ErrorCard that replies to nothing. */
  sendNotice(error: Extract<TaskOutcome, { error: string }>): void;
  /** The control cards other than `stop` that came since the last call, for example `budget`. */
  takeControlCards(): ControlCard[];
  /** Resolves when `takeControlCards` has something to read, for whoever was told to pause. Rejects with the signal's reason. */
  waitForControlCard(): Promise<void>;
}

export interface DelegationRequest {
  readonly to: string;
  readonly task: string;
  readonly context?: JsonObject;
  readonly turn?: number;
  readonly forced?: boolean;
  /** Which try it is, from 1. */
  readonly attempt?: number;
  readonly metadata?: CardMetadata;
  /** For this task alone, in milliseconds; the desk's own signal holds anyway. */
  readonly deadlineMs?: number;
}

export interface QueryRequest {
  readonly query: string;
  /** Default: who gave the task. */
  readonly to?: string;
  readonly options?: readonly string[];
  readonly multiple?: boolean;
}
