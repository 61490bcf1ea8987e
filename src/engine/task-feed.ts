import type { Deferred } from "../base/data-structures/index.ts";
import type { JsonObject, LogEvent, Message, Task, TaskState } from "../protocol/index.ts";
import type { Caller, TaskScope } from "./caller.ts";
import type { Turn, TurnRequest, TurnStartPoint } from "./turn.ts";
import type { MessageAction } from "./decide-message-outcome.ts";

const MAX_TAIL_EVENTS = 1024;
const MAX_TAIL_TOTAL_SIZE = 1024 * 1024;

/**
 * A task as its readers and the senders of its messages observe it. An `ActiveTask` is the feed of a task whose turn
 * this node runs. A `FollowedTask` is the feed of every other task, if several nodes share the store.
 */
export interface TaskFeed {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly contextId: string;
  /** Sequence number of the newest committed event. */
  readonly seq: number;
  /** State of the task, or `undefined` before the task is created. */
  readonly state: TaskState | undefined;
  /** The newest committed events, which all readers of the task share. */
  readonly tail: { findSince(seq: number): LogEvent[] | undefined };
  /** True if the task publishes no more events, because of a failed commit or because the task is erased. */
  readonly hasCommitFailed: boolean;
  /** Returns a copy of the committed task. Later events do not change the copy. */
  getSnapshot(): Task;
  /** Returns true if the event with the sequence number `seq` is the last event of the task. */
  hasEndedAtSeq(seq: number): boolean;
  /** Resolves at the next commit of the task or change of its turns. Rejects if the task will publish no more events. */
  waitForCommitOrTurnChange(): Promise<void>;
  /** True if an agent may still change the task without a new message. */
  readonly hasUnfinishedTurn: boolean;
  /** True while the running turn waits for its user and may continue without a message. */
  readonly isWaitingWithinTurn: boolean;
  /** True once another feed publishes the events of the task. Readers continue with the feed that `reopen` returns. */
  readonly hasMoved: boolean;
  /** Keeps the feed for a request, until the request calls `release`. */
  retain(): this;
  release(): void;
  /** Keeps the feed for a reader, until the reader calls `releaseReader`. */
  retainForReader(): this;
  releaseReader(): void;
  /** Resolves with the current feed of the task, or with `undefined` if the task is deleted. The caller must release it. */
  reopen(): Promise<TaskFeed | undefined>;
}

/** A request to cancel a task. `reason` is the reason of the agent's signal. */
export interface TaskCancellation {
  readonly reason: string;
  readonly caller: Caller;
  readonly metadata: JsonObject;
  /** Text of the task's status, if no client has canceled the task. */
  readonly text?: string;
}

/** The progress of a turn, as the sender of its message observes it. */
export interface TurnProgress {
  readonly message: Message;
  readonly durableSeq: Pick<Deferred<number>, "promise" | "onSettled">;
  readonly stoppedTask: Pick<Deferred<Task>, "promise">;
  readonly startPoint: TurnStartPoint | undefined;
  readonly hasBegun: Turn["hasBegun"];
  readonly hasEnded: Turn["hasEnded"];
}

/**
 * The newest committed events of a task, shared by all readers of the task. A reader has only a position in
 * the log, and no buffer. A reader that falls behind the tail reads from the store (E5).
 */
export class TaskLogTail {
  #events: LogEvent[] = [];
  #size = 0;

  /**
   * Appends new events, which must directly follow the previous events in the tail. After
   * `clear`, the tail accepts any events. Readers need the JSON texts, so their lengths cost nothing.
   */
  add(events: readonly LogEvent[]): void {
    for (const { jsonText } of events) this.#size += jsonText.length;
    if (this.#events.length === 0) this.#events = events.slice();
    else this.#events.push(...events);
    // Trim half at once, so that adding stays cheap.
    if (this.#events.length > MAX_TAIL_EVENTS || this.#size > MAX_TAIL_TOTAL_SIZE) this.#trim();
  }

  /**
   * Returns the events after the sequence number `seq`, or `undefined` if the tail no longer contains all
   * of these events.
   */
  findSince(seq: number): LogEvent[] | undefined {
    const first = this.#events[0];
    if (!first || first.seq > seq + 1) return undefined;
    return this.#events.slice(seq + 1 - first.seq);
  }

  clear(): void {
    if (this.#events.length === 0) return;
    this.#events = [];
    this.#size = 0;
  }

  #trim(): void {
    const gone = this.#events.splice(0, Math.ceil(this.#events.length / 2));
    for (const { jsonText } of gone) this.#size -= jsonText.length;
  }
}

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
