import {
  canMergeChunks,
  MergedChunk,
  type Part,
  type TaskArtifactUpdateEvent,
  type TaskEvent,
} from "../protocol/index.ts";

/** Beyond this an agent waits for the store; large enough that a burst becomes few commits. */
const MAX_EVENTS = 256;
const MAX_SIZE = 256 * 1024;

/**
 * Events that wait for the next commit. Neighbouring chunks of plain text of one artifact are merged while they wait
 * (E6): they would reach every reader at the same moment anyway.
 */
export class PendingEvents {
  readonly #mergeChunks: boolean;
  #events: TaskEvent[] = [];
  #size = 0;
  /** The last of the events, when chunks were merged into it. */
  #mergedChunk: MergedChunk | undefined;

  constructor(merge: boolean) {
    this.#mergeChunks = merge;
  }

  get length(): number {
    return this.#events.length;
  }

  /** Time for the agent to wait. */
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

  /** The last event as one that can grow. */
  #getMergedChunk(last: TaskArtifactUpdateEvent): MergedChunk {
    if (!this.#mergedChunk) {
      this.#mergedChunk = new MergedChunk(last);
      this.#events[this.#events.length - 1] = this.#mergedChunk.event;
    }
    return this.#mergedChunk;
  }
}

/** Roughly the characters that an event holds in memory, without serialising it. */
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
