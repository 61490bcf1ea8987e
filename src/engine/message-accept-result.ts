import type { Message } from "../protocol/index.ts";
import type { TaskScope } from "./caller.ts";
import type { MessageAction } from "./decide-message-outcome.ts";
import type { TaskFeed, TurnProgress } from "./task-feed.ts";
import type { TurnRequest } from "./turn.ts";

/** A request with a message, and its sender. */
export interface InboundMessage extends TurnRequest {
  /** Scope of the sender's tasks. */
  readonly scope: TaskScope;
}

/**
 * Result of accepting a message. An accepted message starts a turn, waits for its turn, repeats an earlier
 * message, goes to a running agent, or is answered without a task. If `isQueued` is true, the message is
 * durable in the task's queue. Only a result with `seq` keeps the feed of the task, until the receiver
 * of the result releases the feed.
 */
export type MessageAcceptResult =
  | { readonly feed: TaskFeed; readonly turn: TurnProgress; readonly isQueued?: boolean }
  | { readonly feed: TaskFeed; readonly seq: number }
  | { readonly reply: Message };

/** The result for a message that belongs to a task. */
export type TaskMessageAcceptResult = Exclude<MessageAcceptResult, { reply: unknown }>;

/** The result for a message that starts a turn or waits for its turn. */
export type TurnAcceptResult = Extract<MessageAcceptResult, { turn: unknown }>;

export function getMessageAction(accepted: TaskMessageAcceptResult): MessageAction {
  if (!("turn" in accepted)) return "deliver";
  return accepted.isQueued ? "queue" : "start";
}
