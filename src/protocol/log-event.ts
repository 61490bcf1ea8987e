import type { TaskEvent } from "./event.ts";

/** Writes an event as one line, for example as the JSON of another protocol version. */
export type EventEncoder = (event: TaskEvent) => string;

/**
 * An event in a task's log. Made from an event (by the runner) or from JSON text (by a store); the other form is made
 * at first use and kept, so that an event is serialised at most once however many readers it has.
 */
export class LogEvent {
  /** 1, 2, 3 … without gaps; 0 for what is in no log (an answer without a task). */
  readonly seq: number;
  #event: TaskEvent | undefined;
  #json: string | undefined;
  #cachedEncoding: { readonly write: EventEncoder; readonly text: string } | undefined;

  private constructor(seq: number, event: TaskEvent | undefined, json: string | undefined) {
    this.seq = seq;
    this.#event = event;
    this.#json = json;
  }

  static create(seq: number, event: TaskEvent): LogEvent {
    return new LogEvent(seq, event, undefined);
  }

  /** `json` must be the text of a `TaskEvent`; stores hand back what they were given. */
  static parse(seq: number, json: string): LogEvent {
    return new LogEvent(seq, undefined, json);
  }

  get event(): TaskEvent {
    return (this.#event ??= JSON.parse(this.json) as TaskEvent);
  }

  /** The event as one line of A2A 1.0 JSON. */
  get json(): string {
    return (this.#json ??= JSON.stringify(this.#event));
  }

  /** The event as another text than `json`; kept for all readers who want that one, until one wants a third. */
  encodeWith(write: EventEncoder): string {
    if (this.#cachedEncoding?.write !== write) this.#cachedEncoding = { write, text: write(this.event) };
    return this.#cachedEncoding.text;
  }
}
