import { Deferred } from "../data-structures/index.ts";
import type { WebhookRegistration } from "./push/push-store.ts";
import type { QueuedTurnData } from "./queued-turn-data.ts";
import type { LogAppend } from "./task-store.ts";

/**
 * A message that the task has accepted but not yet committed. `durableSeq` resolves with the sequence
 * number of the message's event once the event is durable.
 */
export interface UncommittedMessage {
  readonly messageId: string;
  readonly seq: number;
  readonly durableSeq: Deferred<number>;
  /** Webhook that the request registers together with the message. */
  readonly webhook?: WebhookRegistration | undefined;
  /** True if the store already has the message in the task's queue. */
  readonly wasQueued?: boolean;
}

/** The members of an append, before the append is complete. */
export type IncompleteAppend = { -readonly [Member in keyof LogAppend]: LogAppend[Member] };

/**
 * The changes of one commit that do not become events: the ids of accepted messages, changes of the task's queue, finished
 * steps, and the start or the end of a turn without an event. Requests and agents wait until the changes are durable.
 */
export class AwaitedChanges {
  readonly #messages: UncommittedMessage[] = [];
  #queuedTurns: QueuedTurnData[] | undefined;
  #removedThrough: number | undefined;
  #queueCommit: Deferred | undefined;
  #stepCommit: Deferred | undefined;
  #changesTurn = false;

  /** True if the changes need a commit even if no event is pending. */
  get needsCommit(): boolean {
    return this.#changesTurn || this.changesQueue || this.#stepCommit !== undefined;
  }

  get changesQueue(): boolean {
    return this.#queueCommit !== undefined || this.#removedThrough !== undefined;
  }

  /** Adds the changes to an append. The store records the ids of the messages if `recordsMessages` is true. */
  addTo(append: IncompleteAppend, recordsMessages: boolean): void {
    const removedThrough = this.#removedThrough;
    const added = this.#queuedTurns ?? [];
    if (recordsMessages) {
      const queued = added.map(({ message: { messageId } }) => ({ messageId, seq: 0 }));
      const logged = this.#messages.map(({ messageId, seq, wasQueued }) =>
        wasQueued ? { messageId, seq, wasQueued } : { messageId, seq },
      );
      append.messages = queued.length > 0 ? [...queued, ...logged] : logged;
    }
    const webhooks = this.#messages.flatMap(({ webhook }) => webhook ?? []);
    if (webhooks.length > 0) append.webhooks = webhooks;
    if (this.changesQueue)
      append.queueChange = removedThrough === undefined ? { added } : { added, removedThrough };
  }

  addMessage(message: UncommittedMessage): void {
    this.#messages.push(message);
  }

  /** Adds a turn at the end of the queue. Resolves when the turn is durable. */
  addQueuedTurn(queued: QueuedTurnData): Promise<void> {
    (this.#queuedTurns ??= []).push(queued);
    return (this.#queueCommit ??= new Deferred()).promise;
  }

  /** Removes the turns up to `position` from the queue. */
  removeQueuedTurnsThrough(position: number): void {
    this.#removedThrough = position;
  }

  /** Commits the start or the end of a turn, which has no event. */
  addTurnChange(): void {
    this.#changesTurn = true;
  }

  /** Resolves when the finished steps are durable. */
  awaitSteps(): Promise<void> {
    return (this.#stepCommit ??= new Deferred()).promise;
  }

  /** Called when the changes are durable. */
  resolve(): void {
    for (const { durableSeq, seq } of this.#messages) durableSeq.resolve(seq);
    this.#queueCommit?.resolve();
    this.#stepCommit?.resolve();
  }

  reject(error: unknown): void {
    for (const { durableSeq } of this.#messages) durableSeq.reject(error);
    this.#queueCommit?.reject(error);
    this.#stepCommit?.reject(error);
  }
}
