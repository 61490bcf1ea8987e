import type { Message } from "../protocol/index.ts";
import type { ActiveTask } from "./active-task.ts";
import type { TaskScope } from "./caller.ts";
import type { TaskTurnStatus } from "./decide-message-outcome.ts";
import type {
  InboundMessage,
  MessageAcceptResult,
  TaskCancellation,
  TaskFeed,
  TaskMessageAcceptResult,
  TurnProgress,
} from "./task-feed.ts";
import type { StoredTask, TaskStore } from "./task-store.ts";
import type { Turn } from "./turn.ts";

/** The result of accepting a message. A promise if the result depends on the store or on an agent. */
export type Acceptance = MessageAcceptResult | Promise<MessageAcceptResult>;

/** A task whose turn this node does not run. The node of the turn processes its messages and cancellations. */
export interface RemoteTask extends TaskFeed {
  /** Turn status in the store after the newest event. */
  readonly turnStatus: TaskTurnStatus;
  /** Resolves with the turn of a message that waits in the queue of the task. Rejects like `ActiveTask`. */
  findQueuedTurn(message: Message): Promise<TurnProgress | undefined>;
  /** Resolves with the turn whose end the sender of a repeated message awaits. */
  findRunningTurn(message: Message, seq: number, isStreaming?: boolean): Promise<TurnProgress | undefined>;
  /** Resolves with `undefined` if the turn has ended without an answer, so that this node can accept the message. */
  acceptMessage(inbound: InboundMessage): Promise<TaskMessageAcceptResult | undefined>;
  /** Cancels the task on the node of its turn. Resolves with true if the task had ended before. */
  cancelAndWait(cancellation: TaskCancellation): Promise<boolean>;
  /** Reports to the node of the turn that the task has a reader on this node. Never throws. */
  reportReader(): void;
}

/** The members of a stored task from which a node can follow the task. */
export type FollowableTask = Pick<
  StoredTask,
  "task" | "seq" | "awaitsRecovery" | "runsOnOtherNode" | "queuedTurns"
>;

/** The operations of an engine on the tasks whose turns it runs, for the requests of other nodes. */
export interface OwnedTaskOperations {
  /** Returns true if this node runs a turn of the task. */
  isRunningHere(scope: TaskScope, taskId: string): boolean;
  /** Returns true if this node has claimed the task, and starts its turn later. */
  isWaitingSuspect(scope: TaskScope, taskId: string): boolean;
  acceptMessage(inbound: InboundMessage): Acceptance;
  cancelIfUnfinished(scope: TaskScope, taskId: string, cancellation: TaskCancellation): Promise<unknown>;
  /** Notes that another node has a reader of the task. */
  noteRemoteReader(scope: TaskScope, taskId: string): void;
  /** Returns false if this node starts no agents. */
  startsTurns(): boolean;
  /** Claims as many waiting turns as this node can run, and starts them. */
  startWaitingTurns(): Promise<unknown>;
}

/** What an engine asks of the other nodes of its store. The room `cluster` implements it for stores with `nodes`. */
export interface OtherNodes {
  /** True if other nodes can open the store, and can continue the turns of this node. */
  readonly isStoreShared: boolean;
  /**
   * True while other nodes are alive. The store then refuses the repeated message of a new task before its agent
   * starts.
   */
  readonly areAlive: boolean;
  /** Duration in milliseconds of the lease of a node. */
  readonly leaseMs: number;
  /** Accepts a message with `tryToAccept`, which other nodes can disturb. */
  acceptMessage(tryToAccept: (isRetry: boolean) => Acceptance): Acceptance;
  /** Makes the readers that follow a task on this node continue with the active task, which begins a turn. */
  readonly onTurnStart?: (task: ActiveTask) => void;
  /** Announces a commit of a task. */
  readonly announceCommit?: (taskId: string) => void;
  /** Announces the commit of a turn that other nodes can start. */
  readonly announceTurn?: (taskId: string) => void;
  /** Returns a task that this node follows already, and whose turn another node runs. */
  findRunning(scope: TaskScope, taskId: string): RemoteTask | undefined;
  /** Reads the newest events of a task that this node already follows. The requester must release the result. */
  refreshFollowed(scope: TaskScope, taskId: string): Promise<RemoteTask | undefined>;
  /** Follows a task from its stored state. The task is followed while it is retained. */
  follow(scope: TaskScope, stored: FollowableTask, reopen: () => Promise<TaskFeed | undefined>): RemoteTask;
  /** Settles the sender of a turn that this node has handed over, once the turn stops on another node. */
  followHandedOverTurn(task: ActiveTask, turn: Turn): void;
  /** Answers the requests of other nodes, and looks for waiting turns. */
  serve(operations: OwnedTaskOperations): void;
  close(): void;
}

/**
 * Connects an engine with the other nodes of its store. Engines with the same store share the function.
 */
export type NodeCooperation = (engine: { readonly agentId: string; readonly store: TaskStore }) => OtherNodes;

/** For a store that only one process can open. */
export const NO_OTHER_NODES: OtherNodes = {
  isStoreShared: false,
  areAlive: false,
  leaseMs: 0,
  acceptMessage: (tryToAccept) => tryToAccept(false),
  findRunning: () => undefined,
  refreshFollowed: () => Promise.resolve(undefined),
  follow: refuseToFollow,
  followHandedOverTurn: refuseToFollow,
  serve: () => {},
  close: () => {},
};

function refuseToFollow(): never {
  throw new Error("Only one process can open the store.");
}
