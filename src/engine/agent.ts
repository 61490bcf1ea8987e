import type {
  AgentCard,
  Artifact,
  JsonObject,
  Message,
  SendMessageConfiguration,
  Task,
  TaskState,
} from "../protocol/index.ts";
import type { Caller } from "./caller.ts";

/** Content of a message from an agent. The runner adds the ids and the role. */
export type AgentMessage = Pick<Message, "parts"> &
  Partial<Omit<Message, "parts" | "role" | "taskId" | "contextId">>;

/** An event that an agent yields. The runner adds the task id, the context id, and the time. */
export type AgentEvent =
  | {
      /** Any state except SUBMITTED, in which every task begins, and UNSPECIFIED. */
      status: {
        state: Exclude<TaskState, "TASK_STATE_SUBMITTED" | "TASK_STATE_UNSPECIFIED">;
        message?: AgentMessage;
      };
      /** Metadata that is merged into the task's metadata. */
      metadata?: JsonObject;
    }
  | {
      artifact: Artifact;
      /** True: adds the parts to the artifact with the same id. Absent: replaces that artifact. */
      append?: boolean;
      lastChunk?: boolean;
      metadata?: JsonObject;
    }
  /**
   * A reply without a task. Such a reply is allowed only as the first and only event of an agent with
   * `respondsWith: "either"`.
   */
  | { message: AgentMessage };

/** Input of an agent for one turn. */
export interface Run {
  readonly taskId: string;
  readonly contextId: string;
  /** The message that started this turn. This message is also the last entry of `task.history`. */
  readonly message: Message;
  /**
   * A copy of the task at the start of this turn, with its earlier messages, artifacts, and metadata. In a
   * resumed turn, it is the current task.
   */
  readonly task: Task;
  /**
   * Number of this attempt. The number starts at 1 and grows by 1 each time the turn is restarted after the
   * server stopped (`Agent.afterRestart`).
   */
  readonly attempt: number;
  readonly caller: Caller;
  readonly configuration: SendMessageConfiguration;
  /** Metadata of the request, as opposed to `message.metadata`. */
  readonly metadata: JsonObject;
  /** A2A version of the request in the form `Major.Minor`. Only agents that test their server need it. */
  readonly protocolVersion: string;
  /** URIs of the active extensions: those that the agent card declares and the client requests (A2A §4.6). */
  readonly extensions: readonly string[];
  /**
   * The request's `traceparent` header (W3C Trace Context), unchanged. The header identifies the caller's
   * span in a distributed trace.
   */
  readonly traceparent?: string | undefined;
  /** Aborts when the task is canceled or the server closes. */
  readonly signal: AbortSignal;
  /**
   * Metadata of the CancelTask request. The metadata is `undefined` until the task is canceled, and also when
   * the server closes.
   */
  readonly cancelMetadata?: JsonObject | undefined;
  /**
   * Resolves with copies of the tasks listed in the message's `referenceTaskIds`, in that order, at most 50.
   * The result omits tasks that do not exist or that belong to other callers or other agents.
   */
  loadReferencedTasks(): Promise<Task[]>;
  /**
   * Resolves with copies of the caller's other tasks in this context that wait for their user, newest first,
   * at most 50. Each call queries the store twice.
   */
  listInterruptedTasks(): Promise<Task[]>;
}

/** The agent card content that the agent provides. The server adds the interfaces and the signatures. */
export type AgentDescription = Pick<AgentCard, "name" | "description"> &
  Partial<Omit<AgentCard, "name" | "description" | "supportedInterfaces" | "signatures">>;

/**
 * An agent that a server can host.
 *
 * The end of the iterable ends the turn. After a normal return, the task is COMPLETED unless the agent set
 * another final state. After a throw, the task is FAILED, and after an abort, the task is CANCELED. The runner
 * always calls the iterator's `return()`.
 */
export interface Agent {
  /** Returns the content of the agent card. The server caches the result. */
  describe(): AgentDescription | Promise<AgentDescription>;
  /**
   * Returns the members that the extended agent card adds or replaces for an authenticated caller. Different
   * callers can get different extended cards. When this method returns `undefined`, the caller's request is
   * rejected with `EXTENDED_AGENT_CARD_NOT_CONFIGURED`. A server with authentication declares the extended card
   * when this method exists.
   */
  describeExtended?(
    caller: Caller,
  ): Partial<AgentDescription> | undefined | Promise<Partial<AgentDescription> | undefined>;
  execute(run: Run): AsyncIterable<AgentEvent>;
  /**
   * Handles the cancellation of a task that waited for its user and therefore had no run. `task` is the task
   * before the cancellation, and `metadata` is the metadata of the request. The server does not wait for the
   * result.
   */
  onTaskCanceled?(task: Task, caller: Caller, metadata: JsonObject): void | Promise<void>;
  /**
   * Offers the agent a message for a running task, before `whileWorking` applies. When it returns true, the
   * agent has accepted the message: the message is added to the task's history, and the sender receives the
   * current task. Existing streams of the task receive no event for it. An `A2AError` that it throws rejects
   * the message. `task` is a copy of the committed task.
   */
  deliver?(message: Message, task: Task, caller: Caller): boolean;
  /**
   * `task` (default): a task exists as soon as the message is accepted. `either`: the agent's first event
   * decides between a task and a message without a task, and the server does not respond before it.
   */
  readonly respondsWith?: "task" | "either";
  /**
   * How the server handles a message for a running task: `refuse` (default) rejects it, `queue` processes it
   * after the current turn.
   */
  readonly whileWorking?: "refuse" | "queue";
  /**
   * How the server handles a turn that was running when the server stopped or was killed, once a server opens
   * the same store again. `fail` (default): the task ends FAILED with a reason. `restart`: `execute` is
   * called again with the same input, and new artifact content replaces the content of the earlier attempt.
   * `resume`: the same, but `run.task` is the current task, and the agent continues from its own saved state.
   * `restart` and `resume` require a store that persists turns (SQLite). The task fails after
   * `EngineLimits.turnAttempts` attempts. In later attempts, `run.caller` has no scopes and no claims.
   */
  readonly afterRestart?: "fail" | "restart" | "resume";
}
