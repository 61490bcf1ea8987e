import type { LogEvent, Task, TaskState } from "../protocol/index.ts";
import type { TaskScope } from "./caller.ts";
import type { PersistedTurn } from "./persisted-turn.ts";
import type { PushStore, WebhookRegistration } from "./push/push-store.ts";

/** Events to append to the log of one task. The store appends either all or none of the events. */
export interface LogAppend {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly contextId: string;
  /** Sequence number of the last event in the log, or 0 for a new task. */
  readonly expectedSeq: number;
  /** One or more events with the numbers `expectedSeq + 1`, `expectedSeq + 2` … */
  readonly events: readonly LogEvent[];
  /** Status of the task after the append. `timestamp` is in ISO 8601 UTC with milliseconds. */
  readonly status: { readonly state: TaskState; readonly timestamp: string };
  /** The caller's messages among the events. Each message id is unique in its scope (E10). */
  readonly messages: readonly { readonly messageId: string; readonly seq: number }[];
  /** Webhooks that are registered with the events and must receive all of these events. */
  readonly webhooks?: readonly WebhookRegistration[];
  /**
   * Turn that `listUnfinished` returns for the task after the append. `null` deletes the stored turn. By
   * default, the stored turn does not change. The default applies to agents whose turns are not restarted.
   */
  readonly turn?: PersistedTurn | null;
  /**
   * The task after the last of `events`, if a snapshot is due. Only stores with `usesSnapshots` receive a
   * snapshot.
   */
  readonly snapshot?: Task;
}

/**
 * Reason for the rejection of an append. `conflict` means that the log does not end at `expectedSeq`.
 * `duplicate-message` means that the scope already has one of the message ids.
 */
export type AppendRefusal = "conflict" | "duplicate-message";

export interface TaskListQuery {
  readonly contextId?: string;
  readonly status?: TaskState;
  /** Oldest status time of the listed tasks, in ISO 8601 UTC with milliseconds. */
  readonly statusSince?: string;
  /** Position in the list after which the returned tasks begin. */
  readonly after?: TaskListCursor;
  readonly limit: number;
}

/** Position in a list of tasks that is ordered by (status timestamp, task id), both descending. */
export interface TaskListCursor {
  readonly timestamp: string;
  readonly taskId: string;
}

export interface TaskListPage {
  /** Complete tasks, at most `limit` tasks. */
  readonly tasks: Task[];
  /** True if at least one more task follows the returned tasks. */
  readonly hasMore: boolean;
  /** Number of all matching tasks, regardless of `after` and `limit`. */
  readonly total: number;
}

/** A task whose state indicates that an agent is working on the task. */
export interface UnfinishedTask {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly contextId: string;
  readonly seq: number;
  readonly state: TaskState;
  readonly timestamp: string;
  /** The newest `LogAppend.turn`. A task without a stored turn fails after a restart. */
  readonly turn?: PersistedTurn;
}

/**
 * Storage for tasks. A store keeps an append-only log of events per task and folds tasks from the logs. Reads
 * return only committed data, and reads of another scope's task find nothing. If the store is unavailable,
 * its methods reject with any error. If `commit` rejects, the store has stored nothing.
 */
export interface TaskStore {
  /** Display name of the store, for example `sqlite:.colloquy/tasks.db`. */
  readonly name: string;
  /** True if the store uses `LogAppend.snapshot` to shorten later loads. */
  readonly usesSnapshots: boolean;
  /**
   * True if another process can open the store and find all of its data. Unfinished turns can then wait for
   * the other process.
   */
  readonly isDurable?: boolean;
  open(): Promise<void>;
  close(): Promise<void>;
  /**
   * Commits the appends of many tasks in one transaction. Resolves when the appends are durable, with one
   * result per append. The result is `undefined` for success, or the reason for the append's rejection. If
   * `agentsAtWork` is true, agents are running, and the store must not block the event loop during disk
   * access. If `agentsAtWork` is false, the store may block the event loop, which makes batches larger.
   */
  commit(
    batch: readonly LogAppend[],
    about?: { readonly agentsAtWork: boolean },
  ): Promise<readonly (AppendRefusal | undefined)[]>;
  /**
   * Resolves with the task and the sequence number of its last event. The caller of `load` owns the
   * returned task and may change the task.
   */
  load(scope: TaskScope, taskId: string): Promise<{ task: Task; seq: number } | undefined>;
  /**
   * Resolves with the task's events after the sequence number `after`, in order and without gaps. The
   * returned list ends after `limit.events` events, or after the first event with which the list exceeds
   * `limit.maxBytes` of JSON.
   */
  readEvents(
    scope: TaskScope,
    taskId: string,
    after: number,
    limit: { readonly events: number; readonly maxBytes: number },
  ): Promise<LogEvent[]>;
  list(scope: TaskScope, query: TaskListQuery): Promise<TaskListPage>;
  findMessage(scope: TaskScope, messageId: string): Promise<{ taskId: string; seq: number } | undefined>;
  /**
   * Resolves with all tasks of all scopes that are in state SUBMITTED or WORKING. At the start of a server,
   * no agent is running for these tasks.
   */
  listUnfinished(): Promise<UnfinishedTask[]>;
  /** Storage for webhooks. Stores without a `pushStore` do not support push notifications. */
  readonly pushStore?: PushStore;
}
