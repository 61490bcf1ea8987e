import type { JsonObject, LogEvent, TaskPushNotificationConfig } from "../protocol/index.ts";
import type { TaskScope, TaskStore, TaskTurnStatus } from "../engine/index.ts";

/** A task that the node follows, and the position of the node in its log. */
export interface FollowedPosition {
  readonly scope: TaskScope;
  readonly taskId: string;
  /** Sequence number of the last event that the node has read. */
  readonly afterSeq: number;
  /** Turn status that the node has read. */
  readonly turnStatus: TaskTurnStatus;
}

/** New events of a followed task, all from the same committed state as its turn status. */
export interface FollowedTaskChange {
  /** Sequence number of the last event in the store, which can be later than the last of `events`. */
  readonly lastSeq: number;
  /** `running` means that a living node runs a turn, or that queued turns wait. */
  readonly turnStatus: TaskTurnStatus;
  /** The next events after `afterSeq`, in order and without gaps. Empty if the store has deleted them. */
  readonly events: readonly LogEvent[];
}

/** A request for the node that runs the turn of a task. */
export interface TaskRequest {
  readonly id: string;
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly kind: "cancel" | "message" | "read";
  /** Content of the request without secrets. */
  readonly payload: JsonObject;
  /** Webhook that a message registers. The store encrypts its secrets. */
  readonly webhook?: TaskPushNotificationConfig | undefined;
}

export interface TaskRequestAnswer {
  readonly id: string;
  readonly answer: JsonObject;
}

/**
 * Part of a store that several nodes share. With it, a node reads the logs of tasks whose turns other nodes run, and
 * sends requests to these nodes. Stores that only one process can open omit it.
 */
export interface NodeStore {
  /** True while this node holds the lease of a task, so that requests for the node can exist. */
  readonly holdsLeases: boolean;
  /** Duration of a lease in milliseconds. */
  readonly leaseMs: number;
  /** Hints between the nodes of the store. Without hints, the nodes poll. */
  readonly hints?: NodeHints;
  /** False if this node was the only living node at its last renewal. */
  readonly hasOtherNodes: boolean;
  /**
   * Resolves with one element per followed task: its change, `undefined` if nothing has changed, or `"deleted"`. The
   * events of each task end as soon as their size exceeds `maxBytesPerTask`.
   */
  readChanges(
    followed: readonly FollowedPosition[],
    maxBytesPerTask: number,
  ): Promise<readonly (FollowedTaskChange | "deleted" | undefined)[]>;
  /** Stores a request for `timeoutMs`. Resolves with false if the task has no running turn. */
  insertRequest(request: TaskRequest, timeoutMs: number): Promise<boolean>;
  /** Resolves with the unanswered requests for tasks whose lease this node holds. Each lease takes a request once. */
  takeRequests(): Promise<readonly TaskRequest[]>;
  /** Returns a taken request, because the node cannot process it yet. */
  returnRequest(id: string): Promise<void>;
  answerRequest(answer: TaskRequestAnswer): Promise<void>;
  /** Resolves with the answers to the requests with the given ids, and deletes these requests. */
  takeAnswers(ids: readonly string[]): Promise<readonly TaskRequestAnswer[]>;
  deleteRequest(id: string): Promise<void>;
}

/** What a node announces to the other nodes of its store. */
export type NodeHint =
  /** New events of tasks. */
  | { readonly kind: "events"; readonly taskIds: readonly string[] }
  /** A request for the node that runs a turn of the task, or the answer to a request. */
  | { readonly kind: "request" | "answer"; readonly taskIds: readonly string[] }
  /** Turns or webhooks that a worker can claim. */
  | { readonly kind: "work" }
  /** Unknown changes, for example after a lost connection. */
  | { readonly kind: "any" };

/**
 * Hints between the nodes of a store, which shorten the delay of polling. Hints can be lost, repeated, and delayed, so
 * that a node must never depend on them.
 */
export interface NodeHints {
  /** True while the node receives the hints of other nodes. Otherwise, the node polls more often. */
  readonly isReceiving: boolean;
  /** Sends a hint to the other nodes. Never throws. */
  send(hint: NodeHint): void;
  /** Calls `listener` for each hint of another node, and after each change of `isReceiving`. Returns a function that removes it. */
  onHint(listener: (hint: NodeHint) => void): () => void;
  /** Calls `listener` at most once, with the reason, if the database turns out to forward no hints. */
  onUnsupported?(listener: (reason: string) => void): void;
}

/** A store that several nodes can share. */
export interface SharedTaskStore extends TaskStore {
  /** Access to the other nodes of the store. Stores that only one process can open omit it. */
  readonly nodes?: NodeStore;
}
