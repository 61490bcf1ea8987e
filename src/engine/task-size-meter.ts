import { estimateJsonSize, type Task, type TaskEvent } from "../protocol/index.ts";

/** Measures the approximate size of a task, in characters of JSON. */
export class TaskSizeMeter {
  readonly #limit: number;
  readonly #getTask: () => Task | undefined;
  /** Size of all events, or `undefined` if the size is unknown. */
  #size: number | undefined;
  #lastMeasuredEvent: TaskEvent | undefined;
  #lastMeasuredEventSize = 0;

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

  /** Returns true if the task would be larger than the limit after the event. */
  exceedsLimitWith(event: TaskEvent): boolean {
    return this.size + this.#measureEvent(event) > this.#limit;
  }

  add(event: TaskEvent): void {
    this.#size = this.size + this.#measureEvent(event);
  }

  /** Returns the approximate size of an event. Each event is measured once, although two functions need its size. */
  #measureEvent(event: TaskEvent): number {
    if (event !== this.#lastMeasuredEvent) {
      this.#lastMeasuredEvent = event;
      this.#lastMeasuredEventSize = estimateJsonSize(event);
    }
    return this.#lastMeasuredEventSize;
  }
}
