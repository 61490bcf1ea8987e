import type { TaskState } from "../protocol/index.ts";
import type { TaskScope } from "../engine/index.ts";

/** A stored task that has ended or that waits for its user. */
export interface DeletableTask {
  /** Number that the store assigns to the task. No two tasks of a store have the same key. */
  readonly key: number;
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly state: TaskState;
  /** Time of the task's status in ISO 8601 UTC with milliseconds. */
  readonly timestamp: string;
  /** True if the store has at least one event of the task. */
  readonly hasEvents: boolean;
  /** True if a webhook of the task has not received all events yet. */
  readonly hasPendingWebhooks: boolean;
}

export interface StoppedTaskQuery {
  /** Whether to list the tasks in a terminal state, or the tasks that wait for their user. */
  readonly status: "ended" | "waiting";
  /** Status time in ISO 8601 UTC. The list contains only tasks with an earlier status. */
  readonly before: string;
  /** Task that directly precedes the first listed task. By default, the list starts with the oldest status. */
  readonly after?: Pick<DeletableTask, "timestamp" | "key"> | undefined;
  readonly limit: number;
}

/** Selects tasks. A task must match all members that are set. At least one of the ids must be set. */
export interface TaskSelector {
  readonly taskId?: string;
  readonly contextId?: string;
  /** Principal that owns the tasks. */
  readonly principal?: string;
  /** Tenant of the tasks. By default, tasks of all tenants match. */
  readonly tenant?: string;
  /** Id of the agent. By default, tasks of all agents match. */
  readonly agent?: string;
}

export interface TaskDeletionOptions {
  /**
   * Approximate time in milliseconds after which the store stops and leaves the remaining tasks to the next
   * call. A single step, such as the deletion of a large snapshot, can exceed the time.
   */
  readonly budgetMs: number;
  /** If true, the store overwrites the deleted content in its file. Default: false. */
  readonly overwrite?: boolean;
  /**
   * The store stops before the first task in use. The store calls `isInUse` immediately before each deletion,
   * because the store can wait for a locked file, and a request can start to use a task in the meantime.
   */
  readonly isInUse?: (task: DeletableTask) => boolean;
}

/** Size of a store in bytes. */
export interface StoreSize {
  /** Bytes that the data of the store uses. */
  readonly usedBytes: number;
  /** Bytes of the store's files that contain no data. New data reuses these bytes. */
  readonly freeBytes: number;
}

/** Numbers of tasks that a store deleted in order to observe its limits. */
export interface StoreEvictions {
  readonly endedTasks: number;
  /** Tasks that waited for their user. */
  readonly waitingTasks: number;
}

/** Keeps the time of the last sweep for the next process, so that a wrong wall clock deletes no tasks. */
export interface SweepClockStore {
  /**
   * True if the processes of the store run only while they have work. The time between two processes then counts as
   * running time. Default: false.
   */
  readonly countsStoppedTime?: boolean;
  /**
   * Resolves with the record, if `write` has stored one, and with the time of the store's own wall clock in
   * milliseconds since 1970. Without `wallMs`, the clock of the server applies.
   */
  read(): Promise<{ readonly record: SweepClockRecord | undefined; readonly wallMs?: number }>;
  /** Replaces the record. The change need not be durable before the promise resolves. */
  write(record: SweepClockRecord): Promise<void>;
}

/** Deletes stored tasks. Each method is one short transaction, so that other requests can run in between. */
export interface TaskDeletionStore {
  /** Resolves with stopped tasks, ordered by the time of their status and by key. */
  listStoppedTasks(query: StoppedTaskQuery): Promise<DeletableTask[]>;
  /** Resolves with at most `limit` tasks that match the selector, in any state and any order. */
  findMatchingTasks(selector: TaskSelector, limit: number): Promise<DeletableTask[]>;
  /**
   * Deletes the events of ended tasks, and keeps the tasks. Resolves with the number of completed tasks from
   * the start of the list. The store may keep the newest events of a large task.
   */
  deleteEvents(tasks: readonly DeletableTask[], options: TaskDeletionOptions): Promise<number>;
  /**
   * Deletes tasks with their events, message ids, webhooks, and persisted turns. Resolves with the number of
   * completed tasks from the start of the list. The store may leave events of a completed task, which no
   * request can read, to `deleteRemnants`.
   */
  deleteTasks(tasks: readonly DeletableTask[], options: TaskDeletionOptions): Promise<number>;
  /** Deletes the remaining events of deleted tasks. Resolves with true if more events remain. */
  deleteRemnants(options: TaskDeletionOptions): Promise<boolean>;
  measureSize(): Promise<StoreSize>;
  /**
   * Returns free bytes to the file system for about `budgetMs` milliseconds. If `all` is false, the store
   * keeps some free bytes for new data. Resolves with false if the store has no more bytes to return.
   */
  returnFreeSpace(options: { readonly budgetMs: number; readonly all: boolean }): Promise<boolean>;
  /** Resolves once all deletions are durable and deleted content no longer remains in a write-ahead log. */
  flushDeletions(): Promise<void>;
  /** Without `sweepClock`, a server trusts its wall clock at the start. */
  readonly sweepClock?: SweepClockStore;
  /**
   * Returns the numbers of tasks that the store has evicted since the last call. Stores without limits omit the
   * function.
   */
  takeEvictions?(): StoreEvictions;
}

/** The part of `TrustedTime` that a store keeps for the next process. */
export interface SweepClockRecord {
  /** Wall-clock time of the record in milliseconds since 1970. */
  readonly wallMs: number;
  /** Time in milliseconds by which the wall clock is ahead of the trusted time. 0 if the server trusts the wall clock. */
  readonly aheadMs: number;
  /** Running time of the server in milliseconds since the wall clock jumped ahead. */
  readonly delayedMs: number;
  /** True if the wall clock was more than a day behind, so that stored tasks can have times that are too early. */
  readonly wasSetBack: boolean;
}
