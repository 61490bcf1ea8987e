import type { LogEvent, Task, TaskState } from "../protocol/index.ts";
import type { TaskScope } from "./caller.ts";
import type { PersistedTurn } from "./persisted-turn.ts";
import type { PushStore, WebhookRegistration } from "./push/push-store.ts";

/** Events to add to one task's log, all or nothing. */
export interface LogAppend {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly contextId: string;
  /** The seq with which the log must end now; 0 for a task that does not exist yet. */
  readonly expectedSeq: number;
  /** At least one; numbered `after + 1`, `after + 2` … */
  readonly events: readonly LogEvent[];
  /** The status once the events are in. `timestamp`: ISO 8601 UTC with milliseconds. */
  readonly status: { readonly state: TaskState; readonly timestamp: string };
  /** The caller's messages among the events: each id may come only once from this scope (E10). */
  readonly messages: readonly { readonly messageId: string; readonly seq: number }[];
  /** Webhooks that are registered with the events, all of which they are to be sent. */
  readonly webhooks?: readonly WebhookRegistration[];
  /**
   * What `listUnfinished` is to say of the task from now on; null: nothing any more. Absent for most agents: those whose turns
   * are not begun again.
   */
  readonly turn?: PersistedTurn | null;
  /** The task at the last seq of `events`, when a snapshot is due; only given to stores that ask for `usesSnapshots`. */
  readonly snapshot?: Task;
}

/** Why an append was not done: the log had moved on (`conflict`), or one of the messages is known already. */
export type AppendRefusal = "conflict" | "duplicate-message";

export interface TaskListQuery {
  readonly contextId?: string;
  readonly status?: TaskState;
  /** ISO 8601 UTC with milliseconds: status at least that new. */
  readonly statusSince?: string;
  /** Only tasks behind this one in the order of the list. */
  readonly after?: TaskListCursor;
  readonly limit: number;
}

/** A place in a list that is ordered by (status timestamp, task id), both descending. */
export interface TaskListCursor {
  readonly timestamp: string;
  readonly taskId: string;
}

export interface TaskListPage {
  /** Whole tasks; at most `limit`. */
  readonly tasks: Task[];
  /** True when there is at least one more behind the last. */
  readonly hasMore: boolean;
  /** All that match, regardless of `expectedSeq` and `limit`. */
  readonly total: number;
}

/** A task whose state says that an agent is at work on it. */
export interface UnfinishedTask {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly contextId: string;
  readonly seq: number;
  readonly state: TaskState;
  readonly timestamp: string;
  /** The newest `LogAppend.turn`. A store that keeps none has turns that only fail after a restart. */
  readonly turn?: PersistedTurn;
}

/**
 * Where tasks live: an append-only log of events per task, from which tasks are folded. Reads see only what was
 * committed. A read for a task of another scope finds nothing. Stores reject with any error when they cannot serve;
 * nothing of a rejected `commit` is kept.
 */
export interface TaskStore {
  /** For people, for example `sqlite:.colloquy/tasks.db`. */
  readonly name: string;
  /** True when `LogAppend.snapshot` shortens later loads. */
  readonly usesSnapshots: boolean;
  /** True when another process can open it and has all of it: what is unfinished then can wait for that one. */
  readonly isDurable?: boolean;
  open(): Promise<void>;
  close(): Promise<void>;
  /**
   * One transaction for many tasks. Resolves when durable, with one entry per append: undefined when it was done.
   * `agentsAtWork`: some are, who should not be kept waiting for the disk. Without it nobody loses by a store that keeps
   * the event loop waiting, and batches become larger.
   */
  commit(
    batch: readonly LogAppend[],
    about?: { readonly agentsAtWork: boolean },
  ): Promise<readonly (AppendRefusal | undefined)[]>;
  /** The task and the seq of its last event. The task belongs to the caller of `load`. */
  load(scope: TaskScope, taskId: string): Promise<{ task: Task; seq: number } | undefined>;
  /** Events with seq > `expectedSeq`, in order, without a gap; stops at `limit` events or once past `maxBytes` of JSON. */
  readEvents(
    scope: TaskScope,
    taskId: string,
    after: number,
    limit: { readonly events: number; readonly maxBytes: number },
  ): Promise<LogEvent[]>;
  list(scope: TaskScope, query: TaskListQuery): Promise<TaskListPage>;
  findMessage(scope: TaskScope, messageId: string): Promise<{ taskId: string; seq: number } | undefined>;
  /** Every task in state SUBMITTED or WORKING, of all scopes: after a start, those are orphans. */
  listUnfinished(): Promise<UnfinishedTask[]>;
  /** A store without it serves tasks that send no push notifications. */
  readonly pushStore?: PushStore;
}
