import type { ActiveTask } from "./active-task.ts";
import type { TaskScope } from "./caller.ts";
import type { RequestAnswerDependencies } from "./nodes/owner-requests.ts";
import type { FollowedTask } from "./nodes/followed-task.ts";
import type { FollowableTask } from "./nodes/log-poller.ts";
import type { MessageAcceptResult, TaskFeed } from "./task-feed.ts";
import type { Turn } from "./turn.ts";

/** The result of accepting a message. A promise if the result depends on the store or on an agent. */
export type Acceptance = MessageAcceptResult | Promise<MessageAcceptResult>;

/** What an engine asks of the other nodes of its store. `NodeAccess` implements it for a store that nodes share. */
export interface OtherNodes {
  /** True if other nodes can open the store, and can continue the turns of this node. */
  readonly isStoreShared: boolean;
  /** True if the store refuses the repeated message of a new task before its agent starts. */
  readonly refusesRepeatedMessages: boolean;
  /** Accepts a message with `tryToAccept`, which other nodes can disturb. */
  acceptMessage(tryToAccept: (isRetry: boolean) => Acceptance): Acceptance;
  /** Makes the readers that follow a task on this node continue with the active task, which begins a turn. */
  readonly onTurnStart?: (task: ActiveTask) => void;
  /** Announces a commit of a task. */
  readonly announceCommit?: (taskId: string) => void;
  /** Announces the commit of a turn that other nodes can start. */
  readonly announceTurn?: (taskId: string) => void;
  /** Returns a followed task whose turn another node runs. */
  findRunning(scope: TaskScope, taskId: string): FollowedTask | undefined;
  /** Reads the newest events of a task that this node already follows. The requester must release the result. */
  refreshFollowed(scope: TaskScope, taskId: string): Promise<FollowedTask | undefined>;
  /** Follows a task from its stored state. The task is followed while it is retained. */
  follow(scope: TaskScope, stored: FollowableTask, reopen: () => Promise<TaskFeed | undefined>): FollowedTask;
  /** Settles the sender of a turn that this node has handed over, once the turn stops on another node. */
  followHandedOverTurn(task: ActiveTask, turn: Turn): void;
  /** Answers the requests of other nodes. `onWork` is called when a turn may wait for a node that starts agents. */
  serve(operations: RequestAnswerDependencies, onWork: () => void): void;
  close(): void;
}

/** For a store that only one process can open. */
export const NO_OTHER_NODES: OtherNodes = {
  isStoreShared: false,
  refusesRepeatedMessages: false,
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
