import type { A2AError } from "../protocol/index.ts";
import type { Clock } from "./clock.ts";
import type { Committer } from "./committer.ts";
import type { Observer } from "./observer.ts";
import type { TaskWithPossibleWebhooks } from "./push-notifications.ts";
import type { WebhookRegistration } from "./push-store.ts";
import type { TaskStore } from "./task-store.ts";

/** Dependencies that all live tasks of an engine share. */
export interface LiveTaskDependencies {
  readonly store: TaskStore;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly observer: Observer;
  /** If true, the live task merges text chunks that wait for the same commit. */
  readonly mergeChunks: boolean;
  /** If true, the store records the ids of messages. */
  readonly deduplicateMessages: boolean;
  /** Approximate maximum size of the task, in characters of JSON. */
  readonly taskSizeLimit: number;
  /** Called after each commit. */
  readonly onCommit?: ((taskId: string) => void) | undefined;
  /** Outbox that the live task notifies of new events if the task may have webhooks. */
  readonly outbox?:
    | { notifyCommit(task: TaskWithPossibleWebhooks, registered?: readonly WebhookRegistration[]): void }
    | undefined;
}

/** Callbacks from a live task to its runner. */
export interface LiveTaskListener {
  /** True while readers or requests need the newest events in memory. */
  readonly hasReaders: boolean;
  /** True while the agent of a turn runs, and after its end if a later process continues the turn. */
  readonly mustKeepTurnInStore: boolean;
  /** Called when a committed event ends or interrupts a turn and no later event continues the turn. */
  onTurnStop(): void;
  /**
   * Called when a commit fails. After a failed commit, the live task commits no more events. `mayHoldLease` is false if
   * the store has refused the start of a turn, because this node then has no lease to release.
   */
  onCommitFailed(error: A2AError, mayHoldLease: boolean): void;
  /**
   * Called when a commit ends that was under way when the task failed for another reason, for example because the node
   * could not renew its leases. The commit can have acquired the lease.
   */
  onLateCommitResult(): void;
  /** Called when the task has no more events to commit. */
  onAllCommitted(): void;
}
