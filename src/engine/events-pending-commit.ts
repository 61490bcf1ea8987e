import {
  canMergeChunks,
  isChunkReplacedBy,
  MergedChunk,
  type Part,
  type TaskArtifactUpdateEvent,
  type TaskEvent,
} from "../protocol/index.ts";

/**
 * Number of pending events at which the agent must wait for the store. The limit is so high that a burst of
 * events needs few commits.
 */
const MAX_PENDING_EVENTS = 256;
const MAX_PENDING_EVENTS_TOTAL_SIZE = 256 * 1024;

/**
 * Events of one task that wait for the next commit. Adjacent plain text chunks of one artifact are merged
 * while the chunks wait (E6). Merging delays no chunk, because the chunks become visible with the same
 * commit. A chunk that the next event replaces is dropped.
 */
export class EventsPendingCommit {
  readonly #mergeChunks: boolean;
  #events: TaskEvent[] = [];
  #size = 0;
  /** The last pending event, if the event contains merged chunks. */
  #mergedChunk: MergedChunk | undefined;

  constructor(merge: boolean) {
    this.#mergeChunks = merge;
  }

  get length(): number {
    return this.#events.length;
  }

  /** True if the agent must wait for the store. */
  get isFull(): boolean {
    return this.#events.length >= MAX_PENDING_EVENTS || this.#size >= MAX_PENDING_EVENTS_TOTAL_SIZE;
  }

  push(event: TaskEvent): void {
    this.#size += estimateEventSize(event);
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

/** Estimates the size of an event in characters without serializing the event. */
export function estimateEventSize(event: TaskEvent): number {
  if (!("artifactUpdate" in event)) return 512;
  let size = 256;
  for (const part of event.artifactUpdate.artifact.parts) size += estimatePartSize(part);
  return size;
}

function estimatePartSize(part: Part): number {
  if ("text" in part) return part.text.length;
  if ("raw" in part) return part.raw.length;
  return 256;
}
