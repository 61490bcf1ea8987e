import type {
  AgentCard,
  Artifact,
  JsonObject,
  JsonValue,
  Message,
  SendMessageConfiguration,
  Task,
  TaskState,
} from "../protocol/index.ts";
import type { Caller } from "./caller.ts";
import type { StepExecution } from "./turn-steps.ts";
import type { SessionStore } from "./session-repository.ts";
import type { TurnPolicy } from "./turn-limits.ts";

/** Content of a message from an agent. The engine adds the ids and the role of the message. */
export type AgentMessage = Pick<Message, "parts"> &
  Partial<Omit<Message, "parts" | "role" | "taskId" | "contextId">>;

/** An event that an agent yields. The engine adds the task id, the context id, and the time to the event. */
export type AgentEvent =
  | {
      /** Any task state except UNSPECIFIED and SUBMITTED. Every task begins in the state SUBMITTED. */
      status: {
        state: Exclude<TaskState, "TASK_STATE_SUBMITTED" | "TASK_STATE_UNSPECIFIED">;
        message?: AgentMessage;
      };
      /** Entries that the event adds to the task's metadata. */
      metadata?: JsonObject;
    }
  | {
      artifact: Artifact;
      /**
       * If true, the event adds its parts to the artifact with the same id. By default, the event replaces
       * the artifact with the same id.
       */
      append?: boolean;
      lastChunk?: boolean;
      metadata?: JsonObject;
    }
  /**
   * A message that the agent sends instead of creating a task. The reply must be the agent's only event, and
   * the agent's `respondsWith` must be `either`.
   */
  | { message: AgentMessage };

/** Input of an agent for one turn. */
export interface Run {
  /** Id of the task, which the server generates. */
  readonly taskId: string;
  /** Id of the conversation to which the task belongs. */
  readonly contextId: string;
  /**
   * The message that started this turn. The message is also the last entry of `task.history`, there in the form of
   * `Agent.redactMessage`.
   */
  readonly message: Message;
  /**
   * A copy of the task at the start of this turn, with its earlier messages, artifacts, and metadata. If
   * `afterRestart` resumes a turn, `run.task` is the current task instead.
   */
  readonly task: Task;
  /**
   * Number of the current attempt at the turn. The first attempt is number 1, and each restart of the turn
   * increments the number (`Agent.afterRestart`).
   */
  readonly attempt: number;
  /**
   * Identifies this turn in all its attempts. Pass the key to services that accept idempotency keys. 32 hexadecimal
   * digits.
   */
  readonly idempotencyKey: string;
  /** The authenticated sender of `message`. */
  readonly caller: Caller;
  /** The request's `configuration`, such as the accepted output modes. */
  readonly configuration: SendMessageConfiguration;
  /**
   * True if SendStreamingMessage started this turn, so that a client can receive the agent's chunks as they
   * arrive. False for SendMessage, even with `returnImmediately` or a webhook. The value never changes during
   * a turn, even if the turn restarts. Clients that subscribe later do not change `isStreaming`.
   */
  readonly isStreaming: boolean;
  /** Metadata of the SendMessage request. `message.metadata` contains the metadata of the message. */
  readonly metadata: JsonObject;
  /**
   * A2A version of the request in the form `Major.Minor`. Only agents that test their server need
   * `protocolVersion`.
   */
  readonly protocolVersion: string;
  /**
   * URIs of the extensions that the agent declares and the client requests (A2A §4.6). The list omits the
   * extensions that the server implements.
   */
  readonly extensions: readonly string[];
  /**
   * The request's `traceparent` header (W3C Trace Context), unchanged. The `traceparent` header identifies
   * the caller's span in a distributed trace.
   */
  readonly traceparent?: string | undefined;
  /**
   * Headers that continue the trace in HTTP requests of the agent: `traceparent` of this run, and `tracestate`. The
   * clients of Colloquy send the headers automatically.
   */
  readonly traceHeaders: Readonly<Record<string, string>>;
  /**
   * The task of the agent that sent the message, as the caller states (docs/extensions/parent-task-v1.md). Nothing
   * proves the statement, so `parentTask` must not grant access.
   */
  readonly parentTask?: { readonly taskId: string; readonly agent?: string | undefined } | undefined;
  /**
   * Signal that aborts when the task is canceled, a time limit is exceeded, or the server closes. At a time limit, its
   * reason has the name `TimeoutError`, as that of `AbortSignal.timeout`. Errors of its listeners are reported to
   * `onError` of the observer.
   */
  readonly signal: AbortSignal;
  /**
   * Shows that the agent is working, for long work without events. Without progress, the server stops the agent after
   * `maxSilenceMs`.
   */
  readonly progress: () => void;
  /**
   * Reports a call to a language model or to a tool, for the traffic record of the server. Absent if nothing observes
   * the calls, so that adapters collect no data in vain.
   */
  readonly reportCall?: ((call: AgentCallReport) => void) | undefined;
  /**
   * Reports a probable mistake in the agent's code to the observer of the server (`Observer.onWarning`). No caller
   * receives the warning. Absent if the observer ignores warnings.
   */
  readonly reportWarning?: ((message: string) => void) | undefined;
  /**
   * Metadata of the CancelTask request. `cancelMetadata` is `undefined` unless a client cancels the task.
   */
  readonly cancelMetadata?: JsonObject | undefined;
  /**
   * Executes a step once per turn, and resolves with its result. If an earlier attempt at the turn has finished the
   * step `key`, `once` resolves with the stored result and does not call `execute`. Two calls with one key in the same
   * attempt share one execution. `once` resolves when the store has the result and all earlier events of the agent. A
   * step that was running when the process died is executed again, with the same `idempotencyKey`.
   *
   * The result must be JSON of at most 8 Mi characters, or `undefined`. The key has 1 to 256 characters. If `execute`
   * throws, `once` rejects with the error, stores nothing, and a later call executes the step again. Only an agent
   * whose `afterRestart` is `restart` or `resume` has later attempts.
   */
  readonly once: <T>(key: string, execute: (step: StepExecution) => T | PromiseLike<T>) => Promise<T>;
  /**
   * Resolves at the time `until`, or after `until` milliseconds. The first attempt at the turn stores the time as the
   * step `key`, so that a later attempt waits only for the remaining time. Rejects if the signal aborts.
   */
  readonly sleep: (key: string, until: Date | number) => Promise<void>;
  /**
   * Waits like `sleep`, for times in which no process has to run. After a second, the attempt ends, and `signal` aborts.
   * At the time, any server, `POST /tick`, or `colloquy worker --once` starts the next attempt, in which `suspend`
   * resolves at once. A request to cancel the task, or a message to the task, starts the next attempt earlier. Do nothing
   * else while `suspend` waits. Everything outside of `once` runs again.
   *
   * With a store that only one process can open, the attempt continues in this process, and a later process waits for
   * the remaining time before it starts the next attempt. An agent without later attempts waits in the process.
   */
  readonly suspend: (key: string, until: Date | number) => Promise<void>;
  /**
   * Resolves with copies of the tasks in the message's `referenceTaskIds`, in the same order. The result
   * contains at most 50 tasks. The result omits missing tasks and tasks of other callers or agents.
   */
  loadReferencedTasks(): Promise<Task[]>;
  /**
   * Resolves with copies of the caller's other interrupted tasks in the same context. The list contains at
   * most 50 tasks, newest first. Each call to `listInterruptedTasks` queries the store twice.
   */
  listInterruptedTasks(): Promise<Task[]>;
}

/**
 * Content of a new context: messages, or another context of the caller until a time in milliseconds since 1970. With
 * `artifacts`, the content also includes the beginning of the next turn: the user's message, and the events that these
 * artifacts contain.
 */
export type ContextSource =
  | { readonly messages: readonly Pick<Message, "role" | "parts">[] }
  | { readonly contextId: string; readonly until: number; readonly artifacts?: readonly Artifact[] };

/**
 * Agent card fields that the agent provides. The server adds the interfaces and the signatures to the card.
 */
export type AgentDescription = Pick<AgentCard, "name" | "description"> &
  Partial<Omit<AgentCard, "name" | "description" | "supportedInterfaces" | "signatures">>;

/**
 * An agent that a server can host.
 *
 * The turn ends when the iterable of `execute` ends. If the iterable returns, the task is COMPLETED unless
 * the agent set another final state. If the iterable throws, the task is FAILED. If the signal aborts, the
 * task is CANCELED after a cancellation, and FAILED after a time limit. The engine always calls `return()` on
 * the agent's iterator.
 */
export interface Agent extends TurnPolicy {
  /**
   * Id of the agent in its URL path (`/a2a/{id}`) and in the task store. The tasks of an agent belong to its
   * id. Default: the id that `createServer` receives, or an id that the server derives from the agent's name.
   */
  readonly id?: string | undefined;
  /** Returns the content of the agent card, which the server caches. */
  describe(): AgentDescription | Promise<AgentDescription>;
  /**
   * Returns the fields that the extended agent card adds or replaces for an authenticated caller. Different
   * callers can get different extended cards. If `describeExtended` returns `undefined`, the caller's request
   * is rejected with `EXTENDED_AGENT_CARD_NOT_CONFIGURED`. If the agent implements `describeExtended`, a
   * server with authentication declares an extended agent card.
   */
  describeExtended?(
    caller: Caller,
  ): Partial<AgentDescription> | undefined | Promise<Partial<AgentDescription> | undefined>;
  /**
   * Prepares a new context with content that the agent keeps outside of its tasks, such as a session. `converse` of
   * `colloquy/testing` calls it for a prefix and for a fork. Agents that only read their tasks omit it.
   */
  prepareContext?(contextId: string, caller: Caller, source: ContextSource): Promise<void>;
  /** Runs one turn, and yields its events in order. The turn ends with the generator. */
  execute(run: Run): AsyncIterable<AgentEvent>;
  /**
   * Receives the task store of the server that serves the agent, and the id of the agent on that server, before the
   * server calls `execute`. An agent of a framework can keep the framework's sessions in `sessionRepository`. If several
   * servers serve the agent, each server calls `useStore`.
   */
  useStore?(store: SessionStore, agentId: string): void;
  /**
   * Handles the cancellation of a task that waits for its user and therefore has no running agent. `task` is
   * the task before the cancellation, and `metadata` is the metadata of the CancelTask request. The server
   * does not wait until `onTaskCanceled` has finished.
   */
  onTaskCanceled?(task: Task, caller: Caller, metadata: JsonObject): void | Promise<void>;
  /**
   * Offers the agent a message that arrives while the agent is running, except at INPUT_REQUIRED. If `deliver`
   * returns false, the server applies `whileWorking`. If `deliver` returns true, the message is added to the
   * task's history, and the sender receives the current task. Existing streams of the task receive no event for
   * a delivered message. If `deliver` throws an `A2AError`, the server rejects the message with that error.
   * `task` is a copy of the committed task. The server passes messages with the steering signal `interrupt` to
   * the next turn instead.
   */
  deliver?(message: Message, task: Task, caller: Caller): boolean;
  /**
   * Returns a message without the credentials in it, for the history of the task and for the store. `run.message` is
   * the complete message. With `afterRestart: "restart"` or `"resume"`, the server does not call `redactMessage`,
   * because a later attempt at the turn requires the complete message. The same holds for a message that this node stores
   * for a node that starts agents. By default, the history has all messages as sent.
   */
  redactMessage?(message: Message): Message;
  /**
   * With `task` (default), the server creates a task when it accepts the message. With `either`, the agent's
   * first event can be a task event or a message without a task. The server does not respond before the
   * agent's first event.
   */
  readonly respondsWith?: "task" | "either";
  /**
   * Determines what happens to a message to a running task. `refuse` (default) rejects the message, and
   * `queue` processes the message after the current turn. The store keeps queued messages. If the task ends
   * before the turn of a queued message, the server discards the message, and the task's metadata lists its id
   * under `colloquy:discardedMessageIds`. A task that waits for its user never rejects messages.
   */
  readonly whileWorking?: "refuse" | "queue";
  /**
   * Whether a message with the steering signal `interrupt` stops the running agent. If `interruptible` is
   * true, `run.signal` aborts, the task becomes INPUT_REQUIRED when the agent has stopped, and the message
   * begins the next turn. The agent must leave its state ready for the next turn. Default: false.
   */
  readonly interruptible?: boolean;
  /**
   * Determines whether several tasks of one context can run at the same time. With `parallel` (default), the
   * tasks run at the same time. With `queue`, a task stays SUBMITTED until the earlier turns of its context
   * have ended. With `refuse`, the server rejects a message while another task in the context is running. A
   * task that waits for its user does not count as running.
   */
  readonly concurrentTurns?: "queue" | "refuse" | "parallel";
  /**
   * Determines what happens to a turn that was running when the previous server process stopped, or when the
   * task store failed. With `fail` (default), the task fails with a reason. `restart` calls `execute`
   * again with the same input, and new artifact content replaces the content of the earlier attempt. `resume`
   * also calls `execute` again, but `run.task` is the current task, and the agent continues from its own
   * saved state. `restart` and `resume` require a store that persists turns, such as `SqliteStore`. The task
   * fails after `EngineLimits.turnAttempts` attempts. From the second attempt on, `run.caller` has no scopes
   * and no claims.
   */
  readonly afterRestart?: "fail" | "restart" | "resume";
}

/** A finished call of an agent to a language model. */
export interface ModelCallReport {
  readonly kind: "model";
  /** Provider in the terms of OpenTelemetry (`gen_ai.provider.name`), for example `openai`. */
  readonly provider?: string | undefined;
  readonly model: string;
  readonly prompt?: JsonValue | undefined;
  /** The reply as the framework of the agent shows it. */
  readonly reply?: JsonValue | undefined;
  /** Failed attempts before the result. */
  readonly attempts?: readonly { readonly error: string; readonly wait_ms?: number }[] | undefined;
  readonly finishReason?: string | undefined;
  /** Tokens of the prompt, including the tokens that the provider has read from its cache. */
  readonly inputTokens?: number | undefined;
  /** Tokens of the prompt that the provider has read from its cache, for which many providers charge less. */
  readonly cachedInputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly durationMs: number;
  /** Milliseconds between the end of the call and the report. Default: 0. */
  readonly endedMsAgo?: number | undefined;
  readonly error?: string | undefined;
}

/** A finished call of a tool. */
export interface ToolCallReport {
  readonly kind: "tool";
  readonly tool: string;
  /** The server of the tool, for example an MCP server. */
  readonly server?: string | undefined;
  readonly arguments?: JsonValue | undefined;
  readonly result?: JsonValue | undefined;
  readonly durationMs: number;
  readonly error?: string | undefined;
}

/** A call that an agent made during a turn, which its framework can observe. */
export type AgentCallReport = ModelCallReport | ToolCallReport;
