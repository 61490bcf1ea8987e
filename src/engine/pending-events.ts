import {
  canMergeChunks,
  MergedChunk,
  type Part,
  type TaskArtifactUpdateEvent,
  type TaskEvent,
} from "../protocol/index.ts";

/**
 * Number of events above which the agent waits for the store. The number is large enough to turn a burst into
 * few commits.
 */
const MAX_EVENTS = 256;
const MAX_SIZE = 256 * 1024;

/**
 * Events that wait for the next commit. Adjacent plain text chunks of one artifact are merged while they wait
 * (E6), because they would reach every reader at the same time anyway.
 */
export class PendingEvents {
  readonly #mergeChunks: boolean;
  #events: TaskEvent[] = [];
  #size = 0;
  /** The last event, if chunks were merged into it. */
  #mergedChunk: MergedChunk | undefined;

  constructor(merge: boolean) {
    this.#mergeChunks = merge;
  }

  get length(): number {
    return this.#events.length;
  }

  /** True when the agent should wait for the store. */
  get isFull(): boolean {
    return this.#events.length >= MAX_EVENTS || this.#size >= MAX_SIZE;
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
      this.#getMergedChunk(last.artifactUpdate).add(event.artifactUpdate);
    } else {
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

  /** Returns the last event in a form that can grow. */
  #getMergedChunk(last: TaskArtifactUpdateEvent): MergedChunk {
    if (!this.#mergedChunk) {
      this.#mergedChunk = new MergedChunk(last);
      this.#events[this.#events.length - 1] = this.#mergedChunk.event;
    }
    return this.#mergedChunk;
  }
}

/** Estimates the number of characters that an event occupies in memory, without serializing it. */
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
