import type { TaskEvent } from "./event.ts";

/** Encodes an event as a text or as bytes, for example as the JSON of another protocol version. */
export type EventEncoder<Encoded extends string | Uint8Array> = (event: TaskEvent) => Encoded;

/** Encodes an event as one line of text. */
export type EventTextEncoder = EventEncoder<string>;

/**
 * An event in a task's log. The runner creates log events from objects, and a store creates log events from
 * JSON text. A log event is created from either an object or JSON text, and computes the other form on first
 * use. An event is therefore serialized at most once for any number of readers.
 */
export class LogEvent {
  /**
   * Sequence number in the log (1, 2, 3 … without gaps). An event outside a log, such as a reply without a
   * task, has the number 0.
   */
  readonly seq: number;
  #event: TaskEvent | undefined;
  #json: string | undefined;
  #encoder: EventEncoder<string | Uint8Array> | undefined;
  #encoded: string | Uint8Array | undefined;

  private constructor(seq: number, event: TaskEvent | undefined, json: string | undefined) {
    this.seq = seq;
    this.#event = event;
    this.#json = json;
  }

  static create(seq: number, event: TaskEvent): LogEvent {
    return new LogEvent(seq, event, undefined);
  }

  /** Creates a log event from JSON text. `jsonText` must be the unchanged JSON text of a stored `TaskEvent`. */
  static fromJsonText(seq: number, json: string): LogEvent {
    return new LogEvent(seq, undefined, json);
  }

  get event(): TaskEvent {
    return (this.#event ??= JSON.parse(this.jsonText) as TaskEvent);
  }

  /** The event as one line of A2A 1.0 JSON text. */
  get jsonText(): string {
    return (this.#json ??= JSON.stringify(this.#event));
  }

  /**
   * Returns the event as `encoder` encodes it. The log event caches the result of the most recent encoder for
   * all readers.
   */
  encodeWith<Encoded extends string | Uint8Array>(encoder: EventEncoder<Encoded>): Encoded {
    if (this.#encoder !== encoder) {
      this.#encoded = encoder(this.event);
      this.#encoder = encoder;
    }
    return this.#encoded as Encoded;
  }
}
