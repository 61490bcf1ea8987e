import type { LogEvent, Task, TaskState } from "../protocol/index.ts";
import type { TaskScope } from "./caller.ts";
import type { PersistedTurn } from "./persisted-turn.ts";
import type { PushStore, WebhookRegistration } from "./push/push-store.ts";

/** Events to append to one task's log, all or none of them. */
export interface LogAppend {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly contextId: string;
  /** Current last seq of the log, or 0 for a new task. */
  readonly expectedSeq: number;
  /** One or more events with the numbers `expectedSeq + 1`, `expectedSeq + 2` … */
  readonly events: readonly LogEvent[];
  /** Status of the task after the append. `timestamp` is ISO 8601 UTC with milliseconds. */
  readonly status: { readonly state: TaskState; readonly timestamp: string };
  /** The caller's messages among the events. Each id is unique in its scope (E10). */
  readonly messages: readonly { readonly messageId: string; readonly seq: number }[];
  /** Webhooks that are registered with the events and must receive all of them. */
  readonly webhooks?: readonly WebhookRegistration[];
  /**
   * Turn that `listUnfinished` returns for the task from now on. `null` deletes the stored turn. Absent:
   * unchanged, which is the case for agents whose turns are not restarted.
   */
  readonly turn?: PersistedTurn | null;
  /**
   * The task after the last of `events`, when a snapshot is due. Only stores with `usesSnapshots` receive it.
   */
  readonly snapshot?: Task;
}

/**
 * Reason why an append was rejected: `conflict` means that the log does not end at `expectedSeq`,
 * `duplicate-message` that one of the messages is already known.
 */
export type AppendRefusal = "conflict" | "duplicate-message";

export interface TaskListQuery {
  readonly contextId?: string;
  readonly status?: TaskState;
  /** ISO 8601 UTC with milliseconds. Tasks with an older status are omitted. */
  readonly statusSince?: string;
  /** Position in the list. Only later tasks are returned. */
  readonly after?: TaskListCursor;
  readonly limit: number;
}

/** Position in a list that is ordered by (status timestamp, task id), both descending. */
export interface TaskListCursor {
  readonly timestamp: string;
  readonly taskId: string;
}

export interface TaskListPage {
  /** Complete tasks, at most `limit`. */
  readonly tasks: Task[];
  /** True when at least one more task follows. */
  readonly hasMore: boolean;
  /** Number of all matching tasks, regardless of `after` and `limit`. */
  readonly total: number;
}

/** A task whose state claims that an agent is working on it. */
export interface UnfinishedTask {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly contextId: string;
  readonly seq: number;
  readonly state: TaskState;
  readonly timestamp: string;
  /** The newest `LogAppend.turn`. Without it, the task fails after a restart. */
  readonly turn?: PersistedTurn;
}

/**
 * Storage for tasks. A store keeps an append-only log of events per task and folds tasks from it. Reads
 * return only committed data, and reads of another scope's task find nothing. Methods reject with any error
 * when the store is unavailable. A rejected `commit` stores nothing.
 */
export interface TaskStore {
  /** Name of the store for people, for example `sqlite:.colloquy/tasks.db`. */
  readonly name: string;
  /** True when the store uses `LogAppend.snapshot` to shorten later loads. */
  readonly usesSnapshots: boolean;
  /**
   * True when another process can open the store and find all of its data. Unfinished turns can then wait for
   * that process.
   */
  readonly isDurable?: boolean;
  open(): Promise<void>;
  close(): Promise<void>;
  /**
   * Commits the appends of many tasks in one transaction. Resolves when they are durable, with one entry per
   * append: `undefined` for success, or the reason for its rejection. `agentsAtWork` is true while agents are
   * running. The store then must not block the event loop for the disk. While no agent is running, the store
   * may block the event loop, which makes batches larger.
   */
  commit(
    batch: readonly LogAppend[],
    about?: { readonly agentsAtWork: boolean },
  ): Promise<readonly (AppendRefusal | undefined)[]>;
  /** Resolves with the task and the seq of its last event. The caller of `load` owns the returned task. */
  load(scope: TaskScope, taskId: string): Promise<{ task: Task; seq: number } | undefined>;
  /**
   * Resolves with the events after `after`, in order and without gaps. The result stops at `limit.events`
   * events, or after the first event that exceeds `limit.maxBytes` of JSON in total.
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
   * Resolves with all tasks in state SUBMITTED or WORKING, of all scopes. After a start, these tasks are
   * orphaned.
   */
  listUnfinished(): Promise<UnfinishedTask[]>;
  /** Storage for webhooks. Without it, push notifications are not supported. */
  readonly pushStore?: PushStore;
}
