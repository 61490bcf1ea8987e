import type { LogEvent } from "../protocol/index.ts";
import { sizeOf } from "./pending.ts";

const MAX_EVENTS = 1024;
const MAX_SIZE = 1024 * 1024;

/**
 * The newest committed events of a live task, shared by all its readers: a reader is a number, its place in the log,
 * and costs no buffer. Who falls behind this tail reads the store (E5).
 */
export class Tail {
  #events: LogEvent[] = [];
  #sizes: number[] = [];
  #size = 0;

  add(event: LogEvent): void {
    const size = sizeOf(event.event);
    this.#events.push(event);
    this.#sizes.push(size);
    this.#size += size;
    // Trimmed in halves, so that adding stays cheap.
    if (this.#events.length > MAX_EVENTS || this.#size > MAX_SIZE) this.#trim();
  }

  /** The events behind `seq`; undefined when some of them have left the tail. */
  since(seq: number): LogEvent[] | undefined {
    const first = this.#events[0];
    if (!first || first.seq > seq + 1) return undefined;
    return this.#events.slice(seq + 1 - first.seq);
  }

  #trim(): void {
    const keep = Math.floor(this.#events.length / 2);
    const gone = this.#events.length - keep;
    for (let at = 0; at < gone; at++) this.#size -= this.#sizes[at] ?? 0;
    this.#events = this.#events.slice(gone);
    this.#sizes = this.#sizes.slice(gone);
  }
}
