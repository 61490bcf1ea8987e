import type { ActiveTask } from "./active-task.ts";
import type { TaskRequestDependencies } from "./nodes/answer-task-request.ts";
import type { MessageAcceptResult } from "./task-feed.ts";
import type { Turn } from "./turn.ts";

/** The result of accepting a message. A promise if the result depends on the store or on an agent. */
export type Acceptance = MessageAcceptResult | Promise<MessageAcceptResult>;

/** What an engine asks of the other nodes of its store. `NodeAccess` implements it for a store that nodes share. */
export interface OtherNodes {
  /** True if other nodes can continue the turns of this node. */
  readonly canTakeTurns: boolean;
  /** True if the store refuses the repeated message of a new task before its agent starts. */
  readonly refusesRepeatedMessages: boolean;
  /** Accepts a message with `tryToAccept`, which other nodes can disturb. */
  acceptMessage(tryToAccept: (isRetry: boolean) => Acceptance): Acceptance;
  /** Settles the sender of a turn that this node has handed over. Returns false if this node cannot follow the turn. */
  followHandedOverTurn(task: ActiveTask, turn: Turn): boolean;
  /** Answers the requests of other nodes. `onWork` is called when a turn may wait for a node that starts agents. */
  serve(operations: Omit<TaskRequestDependencies, "runners">, onWork: () => void): void;
  close(): void;
}

/** For a store that only one process can open. */
export const NO_OTHER_NODES: OtherNodes = {
  canTakeTurns: false,
  refusesRepeatedMessages: false,
  acceptMessage: (tryToAccept) => tryToAccept(false),
  followHandedOverTurn: () => false,
  serve: () => {},
  close: () => {},
};
