import { estimateJsonSize, type Task } from "../protocol/index.ts";

/** Measures the approximate size of a task, in characters of JSON. */
export class TaskSizeMeter {
  readonly #limit: number;
  readonly #getTask: () => Task | undefined;
  /** Size of all events, or `undefined` if the size is unknown. */
  #size: number | undefined;

  /** `getTask` returns the stored task, which is measured on first use. */
  constructor(limit: number, getTask: () => Task | undefined) {
    this.#limit = limit;
    this.#getTask = getTask;
  }

  /** Size of the task with all of its events. */
  get size(): number {
    if (this.#size === undefined) {
      const task = this.#getTask();
      this.#size = task ? estimateJsonSize(task) : 0;
    }
    return this.#size;
  }

  /** Returns true if the task would be larger than the limit after an event of the given size. */
  exceedsLimitWith(eventSize: number): boolean {
    return this.size + eventSize > this.#limit;
  }

  add(eventSize: number): void {
    this.#size = this.size + eventSize;
  }
}
