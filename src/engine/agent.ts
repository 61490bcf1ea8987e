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

/** A message as an agent writes it; the runner adds the ids and the role. */
export type AgentMessage = Pick<Message, "parts"> &
  Partial<Omit<Message, "parts" | "role" | "taskId" | "contextId">>;

/** What an agent can say. The runner adds task id, context id and time. */
export type AgentEvent =
  | {
      /** Any state but SUBMITTED, in which every task begins, and the one that says nothing. */
      status: {
        state: Exclude<TaskState, "TASK_STATE_SUBMITTED" | "TASK_STATE_UNSPECIFIED">;
        message?: AgentMessage;
      };
      /** Merged into the task's metadata. */
      metadata?: JsonObject;
    }
  | {
      artifact: Artifact;
      /** True: adds the parts to the artifact of that id. Absent: replaces it. */
      append?: boolean;
      lastChunk?: boolean;
      metadata?: JsonObject;
    }
  /** An answer without a task: only as the first and only event, and only from an agent that `opensWith: "either"`. */
  | { message: AgentMessage };

/** What an agent is given for one turn. */
export interface Run {
  readonly taskId: string;
  readonly contextId: string;
  /** The message that began this turn; also the last of `task.history`. */
  readonly message: Message;
  /**
   * The task as this turn found it: earlier messages, artifacts and metadata. In a turn that is resumed, as it is now.
   * A copy; changing it changes nothing.
   */
  readonly task: Task;
  /** 1, and one more each time that the turn is begun again after a restart of the server (`Agent.afterRestart`). */
  readonly attempt: number;
  readonly caller: Caller;
  readonly configuration: SendMessageConfiguration;
  /** The metadata of the request (not of the message). */
  readonly metadata: JsonObject;
  /** The protocol version in which the caller asks, `Major.Minor`; for agents that are to test their server. */
  readonly protocolVersion: string;
  /** URIs of the extensions that are active: what the card declares and the caller asks for (A2A §4.6). */
  readonly extensions: readonly string[];
  /** Where in a distributed trace the caller is: the request's `traceparent` header (W3C Trace Context), as it came. */
  readonly traceparent?: string | undefined;
  /** Aborts when the task is cancelled or the server closes. */
  readonly signal: AbortSignal;
  /** Once the task is cancelled: the metadata of that request. Undefined until then, and when the server closes. */
  readonly cancelMetadata?: JsonObject | undefined;
  /**
   * The tasks that the message refers to (`referenceTaskIds`), in its order, as they are now: copies, at most 50. Those
   * that do not exist are left out, and so are those of other callers and other agents.
   */
  loadReferencedTasks(): Promise<Task[]>;
  /**
   * The caller's other tasks of this context that wait for their user: copies, the newest first, at most 50. Looked up
   * when asked for, which costs two looks into the store.
   */
  listInterruptedTasks(): Promise<Task[]>;
}

/** What a card says of an agent, without what only its server knows (where it is served, and how one authenticates). */
export type AgentDescription = Pick<AgentCard, "name" | "description"> &
  Partial<Omit<AgentCard, "name" | "description" | "supportedInterfaces" | "signatures">>;

/**
 * The agent port: anything that can be put on the network.
 *
 * The end of the iterable ends the turn: after a plain return the task is COMPLETED unless the agent said otherwise,
 * after a throw FAILED, after an abort CANCELED. The runner owns the iterable and always calls its `return()`.
 */
export interface Agent {
  /** Called for the card and cached by the server. */
  describe(): AgentDescription | Promise<AgentDescription>;
  /**
   * What the extended card says instead of the public one, to a caller who is authenticated; it may differ from caller to
   * caller. Undefined: nothing more for this one. A server with authentication declares the extended card then.
   */
  describeExtended?(
    caller: Caller,
  ): Partial<AgentDescription> | undefined | Promise<Partial<AgentDescription> | undefined>;
  execute(run: Run): AsyncIterable<AgentEvent>;
  /**
   * Told of a task that was cancelled while it waited for its user, when there was no run that its signal could tell:
   * `task` is as it was until then, `metadata` that of the request. Not waited for.
   */
  onTaskCanceled?(task: Task, caller: Caller, metadata: JsonObject): void | Promise<void>;
  /**
   * Shown a message for a task that is at work, before `whileWorking` decides. True: the agent has taken it, the message
   * joins the task's history, and the sender is answered with the task as it is; whoever follows the task notices nothing.
   * An A2AError that it throws refuses the message. `task` is as committed; changing it changes nothing.
   */
  deliver?(message: Message, task: Task, caller: Caller): boolean;
  /**
   * `task` (default): a task exists as soon as the message is accepted. `either`: the first event decides between a
   * task and a message without a task, and nothing is answered before it.
   */
  readonly respondsWith?: "task" | "either";
  /** What happens to a message for a task that is at work: `refuse` (default) or `queue` behind the running turn. */
  readonly whileWorking?: "refuse" | "queue";
  /**
   * What becomes of a turn that was at work when its server stopped or was killed, once a server has the store again.
   * `fail` (default): its task fails with a reason. `restart`: `execute` is called again with all that it was given the
   * first time; what it says of an artifact replaces what was said before. `resume`: the same, but `run.task` is the task as
   * it is now, and the agent goes on from there, with what it has kept itself. Both need a store that keeps turns (SQLite),
   * and end with a failure after `EngineLimits.attempts`; `run.caller` has no scopes and claims then.
   */
  readonly afterRestart?: "fail" | "restart" | "resume";
}
