import { mergeChunks, type Part, type TaskEvent } from "../protocol/index.ts";

/** Beyond this an agent waits for the store; large enough that a burst becomes few commits. */
const MAX_EVENTS = 256;
const MAX_SIZE = 256 * 1024;

/**
 * Events that wait for the next commit. Neighbouring chunks of plain text of one artifact are merged while they wait
 * (E6): they would reach every reader at the same moment anyway.
 */
export class Pending {
  readonly #merge: boolean;
  #events: TaskEvent[] = [];
  #size = 0;

  constructor(merge: boolean) {
    this.#merge = merge;
  }

  get length(): number {
    return this.#events.length;
  }

  /** Time for the agent to wait. */
  get full(): boolean {
    return this.#events.length >= MAX_EVENTS || this.#size >= MAX_SIZE;
  }

  /** Adds an event. */
  push(event: TaskEvent): void {
    this.#size += sizeOf(event);
    const last = this.#merge ? this.#events.at(-1) : undefined;
    const merged = last && mergeChunks(last, event);
    if (merged) this.#events[this.#events.length - 1] = merged;
    else this.#events.push(event);
  }

  take(): TaskEvent[] {
    const events = this.#events;
    this.#events = [];
    this.#size = 0;
    return events;
  }
}

/** Roughly the characters that an event holds in memory, without serialising it. */
export function sizeOf(event: TaskEvent): number {
  if (!("artifactUpdate" in event)) return 512;
  let size = 256;
  for (const part of event.artifactUpdate.artifact.parts) size += sizeOfPart(part);
  return size;
}

function sizeOfPart(part: Part): number {
  if ("text" in part) return part.text.length;
  if ("raw" in part) return part.raw.length;
  return 256;
}
