import { Deferred } from "../base/data-structures/index.ts";
import {
  canMergeChunks,
  isChunkReplacedBy,
  MergedChunk,
  type LogEvent,
  type TaskEvent,
} from "../protocol/index.ts";
import type { WebhookRegistration, LogAppend } from "./task-store.ts";
import type { QueuedTurnData } from "./turn-restart-data.ts";

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
 * Number of events that makes the agent wait for the store. The limit is high, so that a burst of
 * events needs only a few commits.
 */
const MAX_EVENTS = 256;
const MAX_TOTAL_EVENT_SIZE = 256 * 1024;

/**
 * The changes of a task that wait for its next commit: its new events, the ids of accepted messages, changes of the task's
 * queue, finished steps, and the start or the end of a turn without an event. Requests and agents wait until the changes
 * are durable.
 */
export class UncommittedChanges {
  /** True if the commit must not be delayed. */
  isUrgent = false;
  readonly #events: TaskEvent[] = [];
  #eventSize = 0;
  /** The last event, if that event contains merged chunks. */
  #mergedChunk: MergedChunk | undefined;
  #capacity: Deferred | undefined;
  #messages: UncommittedMessage[] | undefined;
  #queuedTurns: QueuedTurnData[] | undefined;
  #removedThrough: number | undefined;
  /** Settles with the commit. */
  #commit: Deferred | undefined;
  /** True if the changes need a commit even without an event. */
  #needsCommit = false;

  get eventCount(): number {
    return this.#events.length;
  }

  /**
   * Adds an event. If `mergesChunks` is true, adjacent plain text chunks of one artifact are merged while the chunks wait
   * (E6). Merging does not delay any chunk, because the chunks become visible with the same commit. If the next event
   * replaces a chunk, the chunk is dropped.
   */
  addEvent(event: TaskEvent, size: number, mergesChunks: boolean): void {
    const events = this.#events;
    this.#eventSize += size;
    const last = mergesChunks ? events.at(-1) : undefined;
    if (last && "artifactUpdate" in last && "artifactUpdate" in event && canMergeChunks(last, event)) {
      if (!this.#mergedChunk) {
        this.#mergedChunk = new MergedChunk(last.artifactUpdate);
        events[events.length - 1] = this.#mergedChunk.event;
      }
      this.#mergedChunk.add(event.artifactUpdate);
      return;
    }
    if (last && isChunkReplacedBy(last, event)) events.pop();
    events.push(event);
    this.#mergedChunk = undefined;
  }

  /** Returns `undefined` while the agent can continue, or a promise that resolves when the commit begins. */
  waitForCapacity(): Promise<void> | undefined {
    const isFull = this.#events.length >= MAX_EVENTS || this.#eventSize >= MAX_TOTAL_EVENT_SIZE;
    return isFull ? (this.#capacity ??= new Deferred()).promise : undefined;
  }

  /** Returns the events, because their commit begins. */
  takeEvents(create: (event: TaskEvent, at: number) => LogEvent): LogEvent[] {
    this.#capacity?.resolve();
    return this.#events.map(create);
  }

  get needsCommit(): boolean {
    return this.#needsCommit || this.#events.length > 0;
  }

  get changesQueue(): boolean {
    return this.#queuedTurns !== undefined || this.#removedThrough !== undefined;
  }

  /** Adds the changes to an append. The store records the ids of the messages if `recordsMessages` is true. */
  addTo(append: IncompleteAppend, recordsMessages: boolean): void {
    const added = this.#queuedTurns ?? [];
    const ids: LogAppend["messages"][number][] = added.map(({ message }) => ({
      messageId: message.messageId,
      seq: 0,
    }));
    for (const { messageId, seq, wasQueued, webhook } of this.#messages ?? []) {
      ids.push(wasQueued ? { messageId, seq, wasQueued } : { messageId, seq });
      if (webhook) append.webhooks = [...(append.webhooks ?? []), webhook];
    }
    if (recordsMessages) append.messages = ids;
    if (!this.changesQueue) return;
    const removedThrough = this.#removedThrough;
    append.queueChange = removedThrough === undefined ? { added } : { added, removedThrough };
  }

  addMessage(message: UncommittedMessage): void {
    (this.#messages ??= []).push(message);
  }

  /** Adds a turn at the end of the queue. */
  addQueuedTurn(queued: QueuedTurnData): void {
    (this.#queuedTurns ??= []).push(queued);
  }

  /** Removes the turns up to `position` from the queue. */
  removeQueuedTurnsThrough(position: number): void {
    this.#removedThrough = position;
    this.#needsCommit = true;
  }

  /** Makes a commit necessary even without an event. Resolves when the changes are durable. */
  requireCommit(): Promise<void> {
    this.#needsCommit = true;
    return (this.#commit ??= new Deferred()).promise;
  }

  /** Called when the changes are durable. */
  resolve(): void {
    for (const { durableSeq, seq } of this.#messages ?? []) durableSeq.resolve(seq);
    this.#commit?.resolve();
  }

  /** Called when the changes cannot be stored. */
  reject(error: unknown): void {
    this.#capacity?.resolve();
    for (const { durableSeq } of this.#messages ?? []) durableSeq.reject(error);
    this.#commit?.reject(error);
  }
}
