import type { TaskState } from "../protocol/index.ts";
import type { TaskScope } from "./caller.ts";
import type { TurnRestartData } from "./turn-restart-data.ts";

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
   * Releases a lease before the turn has ended, so that every node can claim the task. A lease with an older
   * epoch is ignored.
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
