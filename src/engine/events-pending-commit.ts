import { Deferred } from "../data-structures/index.ts";
import {
  canMergeChunks,
  isChunkReplacedBy,
  MergedChunk,
  type TaskArtifactUpdateEvent,
  type TaskEvent,
} from "../protocol/index.ts";

/**
 * Number of pending events that makes the agent wait for the store. The limit is high, so that a burst of
 * events needs only a few commits.
 */
const MAX_PENDING_EVENTS = 256;
const MAX_PENDING_EVENTS_TOTAL_SIZE = 256 * 1024;

/**
 * Events of one task that wait for the next commit. Adjacent plain text chunks of one artifact are merged
 * while the chunks wait (E6). Merging does not delay any chunk, because the chunks become visible with the
 * same commit. If the next event replaces a chunk, the chunk is dropped.
 */
export class EventsPendingCommit {
  readonly #mergeChunks: boolean;
  #events: TaskEvent[] = [];
  #size = 0;
  #capacity: Deferred | undefined;
  /** The last pending event, if that event contains merged chunks. */
  #mergedChunk: MergedChunk | undefined;

  constructor(merge: boolean) {
    this.#mergeChunks = merge;
  }

  get length(): number {
    return this.#events.length;
  }

  /**
   * Returns `undefined` while the writer can continue, or a promise that resolves when the events have left for their
   * commit.
   */
  waitForCapacity(): Promise<void> | undefined {
    const isFull = this.#events.length >= MAX_PENDING_EVENTS || this.#size >= MAX_PENDING_EVENTS_TOTAL_SIZE;
    return isFull ? (this.#capacity ??= new Deferred()).promise : undefined;
  }

  push(event: TaskEvent, size: number): void {
    this.#size += size;
    const last = this.#events.at(-1);
    if (
      this.#mergeChunks &&
      last &&
      canMergeChunks(last, event) &&
      "artifactUpdate" in last &&
      "artifactUpdate" in event
    ) {
      this.#getOrCreateLastMergedChunk(last.artifactUpdate).add(event.artifactUpdate);
    } else {
      if (this.#mergeChunks && last && isChunkReplacedBy(last, event)) this.#events.pop();
      this.#events.push(event);
      this.#mergedChunk = undefined;
    }
  }

  takeAll(): TaskEvent[] {
    const events = this.#events;
    this.#events = [];
    this.#size = 0;
    this.#mergedChunk = undefined;
    this.#capacity?.resolve();
    this.#capacity = undefined;
    return events;
  }

  /** Returns the last pending event as a `MergedChunk`, to which more chunks can be added. */
  #getOrCreateLastMergedChunk(last: TaskArtifactUpdateEvent): MergedChunk {
    if (!this.#mergedChunk) {
      this.#mergedChunk = new MergedChunk(last);
      this.#events[this.#events.length - 1] = this.#mergedChunk.event;
    }
    return this.#mergedChunk;
  }
}
