import type {
  CardMetadata,
  CoreCardErrorType,
  ErrorCard,
  QueryCard,
  ResultCard,
  ResultCardStatus,
  TaskCard,
} from "../index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import type { ModelReply, ModelRequest } from "./role-model.ts";

/**
 * A role in the card protocol. A role performs tasks and answers queries. A role sends and receives message
 * cards and is independent of the transport.
 */
export interface Role {
  /** Name of the role on message cards, either `planner`, `solver`, or another role of the card protocol. */
  readonly name: string;
  /** Description of the role for users and for the A2A agent card. */
  readonly description: string;
  /**
   * Performs a task and returns the outcome. If the role throws, the requester receives an `ErrorCard`. After
   * `signal` aborts, the role can still return a `partial` result within the grace period.
   */
  performTask(taskContext: TaskContext): Promise<TaskOutcome>;
  /**
   * Answers a query from another role, for example from a solver that works on a subtask of this role. If
   * `answerQuery` is missing or returns `undefined`, the query gets no answer, and the querying role
   * continues.
   */
  answerQuery?(
    query: QueryCard,
    taskContext: Pick<TaskContext, "callModel" | "signal">,
  ): Promise<QueryAnswer | undefined>;
}

/** A role's answer to a query. `selected` contains the chosen options of the query. */
export interface QueryAnswer {
  readonly result: string;
  readonly selected?: string | readonly string[];
}

/** The outcome of a task, either a result or an error. */
export type TaskOutcome =
  | {
      readonly result: string;
      readonly status: ResultCardStatus;
      readonly metadata?: CardMetadata;
      /** Type of the reply, which is `result` or a custom type whose `isTerminal` is true. Default: `result`. */
      readonly type?: string;
    }
  | {
      readonly error: string;
      readonly errorType: CoreCardErrorType | (string & {});
      readonly retryable?: boolean;
      /** HTTP status of the model provider's response, if the provider caused the error. */
      readonly httpStatus?: number;
    };

/**
 * The interface between a role and its environment while the role works on one task. All model calls and all
 * message cards pass through the `TaskContext`, so recordings are complete. The role's next message card
 * reports the token usage of the model call.
 */
export interface TaskContext {
  readonly task: TaskCard;
  /**
   * Signal that aborts when the task is stopped, is canceled, or exceeds its deadline. If a control card
   * stopped the task, the abort reason is that control card.
   */
  readonly signal: AbortSignal;
  /**
   * Calls the role's model with a request. If the model provider responds with status 408, 409, 425, 429, or
   * 5xx, or does not respond, the call is repeated twice. The role's next message card lists the failed
   * tries.
   */
  callModel(request: Omit<ModelRequest, "role" | "signal">): Promise<ModelReply>;
  /**
   * Reports that the model's reply is unusable and that the role requests another reply. The role's next
   * message card lists the reason and the beginning of the reply in `metadata.failed_tries`.
   */
  reportUnusableReply(reason: string, reply: Pick<ModelReply, "text">): void;
  /**
   * Sends a task to another role and resolves with the final reply. If the other role or the transport fails,
   * the promise resolves with an `ErrorCard`. If the other role sends a query, the `answerQuery` method of
   * the sending role answers the query. Rejects with the abort reason if `signal` aborts. Rejects with
   * `INVALID_PARAMS` if the request cannot be converted to a valid task card.
   */
  delegate(task: DelegationRequest): Promise<ResultCard | ErrorCard>;
  /**
   * Sends a query to another role or to the requester, and resolves with the answer. The answer has the
   * status `error` if the recipient cannot answer the query. If the transport fails, the promise resolves
   * with an `ErrorCard`. The requester receives only one query at a time. While the requester answers the
   * query, the A2A task has the state `INPUT_REQUIRED`.
   */
  sendQuery(query: QueryRequest): Promise<ResultCard | ErrorCard>;
}

/** A subtask that a role sends to another role. */
export interface DelegationRequest {
  readonly to: string;
  readonly task: string;
  /** Type of the message card, for example a custom type of your card protocol. Default: `task`. */
  readonly type?: string;
  readonly context?: JsonObject;
  readonly turn?: number;
  readonly forced?: boolean;
  /** Number of the current attempt at a subtask, starting at 1. */
  readonly attempt?: number;
  readonly metadata?: CardMetadata;
  /**
   * Time limit of a subtask in milliseconds. The subtask also stops when the signal of the task context
   * aborts.
   */
  readonly deadlineMs?: number;
}

/** A question that a role asks while it performs a task. */
export interface QueryRequest {
  readonly query: string;
  /** Name of the role that receives the query, by default the requester of the task. */
  readonly to?: string;
  readonly options?: readonly string[];
  readonly multiple?: boolean;
}
