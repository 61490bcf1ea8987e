import type { LogEvent, Task, TaskState, TaskPushNotificationConfig } from "../protocol/index.ts";
import type { TaskScope } from "./caller.ts";
import type { StoreHealth, StoreMigrationListener } from "./store-health.ts";
import type { QueuedTurnData, TurnQueueChange, TurnRestartData } from "./turn-restart-data.ts";

/** Events to append to the log of one task. The store appends either all or none of the events. */
export interface LogAppend {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly contextId: string;
  /** Sequence number of the last event in the log, or 0 for a new task. */
  readonly expectedSeq: number;
  /**
   * Events with the numbers `expectedSeq + 1`, `expectedSeq + 2` … The list is empty if the append changes only the
   * turns of the task: their queue, steps, start, suspension, or end.
   */
  readonly events: readonly LogEvent[];
  /** Time in milliseconds since 1970 at which the commit begins. `readEvents` returns the time with each event. */
  readonly committedAt: number;
  /** Status of the task after the append. `timestamp` is in ISO 8601 UTC with milliseconds. */
  readonly status: { readonly state: TaskState; readonly timestamp: string };
  /**
   * The caller's messages in the appended events and in the turns that the append queues. Each message id is
   * unique in its scope (E10). `seq` is 0 for a queued message. If `wasQueued` is true, the store has the
   * message with `seq` 0 and updates `seq`.
   */
  readonly messages: readonly {
    readonly messageId: string;
    readonly seq: number;
    readonly wasQueued?: boolean;
  }[];
  /**
   * Webhooks that the store registers in the same transaction as the events. Each webhook receives all events
   * of the append.
   */
  readonly webhooks?: readonly WebhookRegistration[];
  /**
   * Turn that the store keeps for the task. `TurnStore.claim` returns the turn. `null` deletes the stored
   * turn and all stored steps of the task. By default, the stored turn does not change.
   */
  readonly turn?: TurnRestartData | null;
  /**
   * Finished steps of the running turn, which the store adds to the steps of the task. A step replaces a stored step
   * with the same turn and key.
   */
  readonly steps?: readonly FinishedStep[];
  /** Change of the queue of turns that the store keeps for the task. `load` returns the queue. */
  readonly queueChange?: TurnQueueChange;
  /**
   * Epoch of the lease under which the writer appends. The store rejects the append if the task has another
   * epoch.
   */
  readonly epoch: number;
  /**
   * True in the append that begins a turn, and false in the append that ends the turn. The node holds the
   * task's lease from the first append to the second. By default, the stored value does not change. A new
   * task has no running turn.
   */
  readonly hasRunningTurn?: boolean;
  /**
   * True if no node holds the task's lease after the append, although the task has a running turn. Every node that
   * starts agents can then claim the task. By default, the appending node holds the lease of a running turn.
   */
  readonly releasesLease?: boolean;
  /**
   * True if the task has the epoch `epoch + 1` after the append. A node sets the value if it begins a turn of an existing
   * task, so that a late `release` of an earlier turn is ignored. A node also sets the value if it queues a turn while no
   * turn runs, so that no other node can begin an earlier queued turn without the new one. Only stores with `nodes`
   * receive the value.
   */
  readonly incrementsEpoch?: boolean;
  /**
   * State of the task after all `events` are applied. `snapshot` is set only if the store needs a new
   * snapshot. Only stores with `usesSnapshots` receive a snapshot.
   */
  readonly snapshot?: Task;
  /** Artifacts of `snapshot` whose content the store can omit, because the log contains the content. */
  readonly artifactReferences?: readonly ArtifactReference[];
}

/** The place of a caller's message in the store. */
export interface StoredMessage {
  readonly taskId: string;
  /** Sequence number of the message's event, or 0 for a message that is queued, or was queued when its task ended. */
  readonly seq: number;
}

/**
 * A reference from a snapshot to the content of an artifact in the log. The events of the artifact from
 * `fromSeq` to the snapshot contain the entire content.
 */
export interface ArtifactReference {
  readonly artifactId: string;
  readonly fromSeq: number;
}

/** The newest snapshot of a task, and the events after it. Sizes are in characters of JSON. */
export interface SnapshotProgress {
  readonly logSizeSinceSnapshot: number;
  /** Size of the snapshot, including the events that it references, or 0 without a snapshot. */
  readonly snapshotSize: number;
  readonly artifactReferences: readonly ArtifactReference[];
}

/**
 * Reason for the rejection of an append. `conflict` means that the log does not end at `expectedSeq`, or that
 * another node has claimed the task. `duplicate-message` means that the scope already has one of the message
 * ids.
 */
export type AppendRefusal = "conflict" | "duplicate-message";

/** Position in a list of tasks that is sorted by status timestamp and task id, both in descending order. */
export interface TaskListCursor {
  readonly timestamp: string;
  readonly taskId: string;
}

export interface TaskListQuery {
  readonly contextId?: string;
  readonly status?: TaskState;
  /** Earliest status time of the listed tasks, in ISO 8601 UTC with milliseconds. */
  readonly statusSince?: string;
  /** Position in the task list. The page begins after this position. */
  readonly after?: TaskListCursor;
  /** Maximum number of tasks on the page. */
  readonly limit: number;
  /**
   * Approximate maximum size of the page, in bytes of stored JSON. The page ends before the task that would
   * exceed the limit, and contains at least one task. By default, only `limit` limits the page.
   */
  readonly maxBytes?: number;
  /** Whether the tasks contain their artifacts. If false, the store need not read the artifacts. Default: false. */
  readonly includeArtifacts?: boolean;
}

export interface TaskListPage {
  /** Tasks with all of their fields, except for artifacts that the query excludes. */
  readonly tasks: Task[];
  /** True if at least one more task follows the returned tasks. */
  readonly hasMore: boolean;
  /**
   * Number of all matching tasks in the store, regardless of `after`, `limit`, and `maxBytes`. A store may stop
   * to count at a number of tasks that it documents, and returns that number.
   */
  readonly total: number;
}

/** A task as the store has it. */
export interface StoredTask {
  readonly task: Task;
  /** Sequence number of the task's last event. */
  readonly seq: number;
  /** Increases with each claim of the task by a node, and with `LogAppend.incrementsEpoch`. */
  readonly epoch: number;
  /**
   * True if the task has a running turn, and no other living node holds the lease of the task. If the loading
   * node does not run the turn itself, the task waits for recovery.
   */
  readonly awaitsRecovery: boolean;
  /** True if another living node holds the lease of the task and runs its turn. Default: false. */
  readonly runsOnOtherNode?: boolean;
  /** Turns that wait for the current turn, in order. Without queued turns, `queuedTurns` is absent. */
  readonly queuedTurns?: readonly QueuedTurnData[];
  /** Only stores with `usesSnapshots` return `snapshotProgress`. */
  readonly snapshotProgress?: SnapshotProgress;
}

/**
 * Storage for tasks. A store keeps an append-only log of events for each task, and computes each task from
 * its log. Reads return only committed data. Reads cannot find the tasks of other scopes. If the store is
 * unavailable, its methods reject with an error of any type. If `commit` rejects, the store has stored none
 * of the appends. A store without an optional member works without its feature.
 */
export interface TaskStore {
  /** Display name of the store, for example `sqlite:.colloquy/tasks.db`. */
  readonly name: string;
  /** Opens the store. `onMigration` receives the progress of a migration of earlier data. */
  open(onMigration?: StoreMigrationListener): Promise<void>;
  close(): Promise<void>;
  /**
   * Commits the appends of many tasks in one transaction. Resolves with one result per append when the
   * appends are durable. For a stored append, the result is `undefined`. For a rejected append, the result is
   * the reason for the rejection. If `agentsAtWork` is true, the store must not block the event loop during
   * disk access, because agents are running. If `agentsAtWork` is false, the store may block the event loop,
   * so that concurrent requests form one batch.
   */
  commit(
    batch: readonly LogAppend[],
    about?: { readonly agentsAtWork: boolean },
  ): Promise<readonly (AppendRefusal | undefined)[]>;
  /** Resolves with a task. The caller of `load` owns the returned task and may fold events into the task. */
  load(scope: TaskScope, taskId: string): Promise<StoredTask | undefined>;
  /**
   * Resolves with the task's events after the sequence number `after`, in order and without gaps. The list
   * ends after `limit.events` events, or as soon as the total JSON size exceeds `limit.maxBytes`.
   */
  readEvents(
    scope: TaskScope,
    taskId: string,
    after: number,
    limit: { readonly events: number; readonly maxBytes: number },
  ): Promise<LogEvent[]>;
  list(scope: TaskScope, query: TaskListQuery): Promise<TaskListPage>;
  /** Returns or resolves with the task of a message. A promise for each message would cost more than the lookup. */
  findMessage(
    scope: TaskScope,
    messageId: string,
  ): StoredMessage | undefined | Promise<StoredMessage | undefined>;
  /** True if the store uses `LogAppend.snapshot` to shorten later loads. Default: false. */
  readonly usesSnapshots?: boolean;
  /**
   * True if another process can open the store later and find all data. If the store is durable, unfinished
   * turns can wait for the next process. A durable store requires `turns`. Default: false.
   */
  readonly isDurable?: boolean;
  /**
   * Ability of the store to commit. While the store cannot commit, the engine refuses new messages at once,
   * and keeps the pending events of running agents for a later commit. Without `health`, the engine retries
   * each failed commit a few times.
   */
  readonly health?: StoreHealth;
  /** The turns of the tasks. Without this port, all turns end with the process, and steps are not stored. */
  readonly turns?: TurnStore;
}

/**
 * A finished step of a running turn. The store keeps the step until the turn ends, so that a later attempt at the turn
 * does not execute the step again. Stores treat `turnSeq`, `key`, and `json` as opaque.
 */
export interface FinishedStep {
  /** Sequence number of the message that began the turn. */
  readonly turnSeq: number;
  /** Key of the step, which is unique in its turn. */
  readonly key: string;
  /** JSON object with the result of the step as its member `result`. The member is absent for `undefined`. */
  readonly json: string;
}

/** Identifies one lease on a task. A later lease on the same task has a higher epoch. */
export interface TaskLease {
  readonly scope: TaskScope;
  readonly taskId: string;
  /** Increases with each claim of the task by a node, and with `LogAppend.incrementsEpoch`. */
  readonly epoch: number;
}

/** A task with a running turn, according to the store. The node that ran the turn may have failed. */
export interface UnfinishedTask {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly contextId: string;
  readonly seq: number;
  readonly state: TaskState;
  readonly timestamp: string;
  /**
   * Persisted turn of the task, if the store has a turn. A task without a persisted turn fails after a
   * restart of the server.
   */
  readonly turn?: TurnRestartData;
}

export interface ClaimedTask extends UnfinishedTask, TaskLease {
  /** True if a request to cancel the task waits for its answer. Default: false. */
  readonly isCancelRequested?: boolean;
}

/**
 * The turns of the tasks, and the leases of one node. A node may append to a task with a running turn only while the node
 * holds the task's lease. A node acquires a lease with the append that begins a turn, or with `claim`. The node releases
 * the lease with the append that ends the turn, or with `release`. If only one process can open a store, the node is the
 * process: its leases end with the process and never expire before.
 */
export interface TurnStore {
  /** Interval in milliseconds at which the node must call `renew` in order to keep its leases. */
  readonly renewIntervalMs: number;
  /**
   * Interval in milliseconds at which a node looks for waiting turns. `undefined` if only one process can open the
   * store, because this process knows its waiting turns.
   */
  readonly waitingTurnPollMs?: number;
  /**
   * Claims up to `limit` tasks of the agent that have a running turn, although no living node holds their
   * lease. The claim increments the epoch of each task, so that the store rejects appends of the earlier
   * holder. `lost` limits the claim to tasks of nodes that have stopped without a release, and `waiting` to tasks that
   * no node holds because their lease is released. Stores without `waitingTurnPollMs` always claim both.
   */
  claim(agent: string, limit: number, which?: "lost" | "waiting"): Promise<ClaimedTask[]>;
  /** Extends all leases of the node. Resolves with the leases that the node has lost since the last call. */
  renew(): Promise<readonly TaskLease[]>;
  /**
   * Returns the time in milliseconds until this node must stop its turns, because it could not renew its leases. The time
   * ends before the leases, on a monotonic clock that starts with the request of the last successful renewal. Absent if
   * leases end with the process.
   */
  getTimeUntilFence?(): number;
  /**
   * Waits until this node knows of each other node with turns whether the node is alive, which takes a new node up to the
   * length of a lease. A serverless host may start a process for one call, and end the process afterwards.
   */
  watchOtherNodes?(): Promise<void>;
  /**
   * Releases a lease before the turn has ended, so that every node can claim the task. A lease with an older epoch is
   * ignored, also if the release arrives late.
   */
  release(lease: TaskLease): Promise<void>;
  /** Resolves with the tasks of all scopes that have queued turns, except those whose turn another living node runs. */
  listQueued(): Promise<readonly { readonly scope: TaskScope; readonly taskId: string }[]>;
  /**
   * Resolves with true if a loaded task is still current: the task has no running and no queued turn, and its
   * log and epoch are unchanged.
   */
  isUnchanged(
    scope: TaskScope,
    taskId: string,
    loaded: { readonly seq: number; readonly epoch: number },
  ): Promise<boolean>;
  /** Resolves with the stored steps of the turn that began at the sequence number `turnSeq`. */
  readSteps(scope: TaskScope, taskId: string, turnSeq: number): Promise<readonly FinishedStep[]>;
}

/**
 * A URL that receives updates of a task, and the A2A version of these notifications.
 */
export interface WebhookRegistration {
  readonly config: TaskPushNotificationConfig & { readonly id: string };
  /**
   * A2A version of the request that registered the webhook. Notifications to the webhook use the same
   * version.
   */
  readonly version: string;
}
