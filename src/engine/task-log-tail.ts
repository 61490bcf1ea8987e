import type { LogEvent } from "../protocol/index.ts";
import { measureEventSize } from "./measure-size.ts";

const MAX_TAIL_EVENTS = 1024;
const MAX_TAIL_TOTAL_SIZE = 1024 * 1024;

/**
 * The newest committed events of a task, shared by all readers of the task. A reader has only a position in
 * the log, and no buffer. A reader that falls behind the tail reads from the store (E5).
 */
export class TaskLogTail {
  #events: LogEvent[] = [];
  #size = 0;

  /**
   * Appends new events, which must directly follow the previous events in the tail. After
   * `clear`, the tail accepts any events.
   */
  add(events: readonly LogEvent[]): void {
    for (const { event } of events) this.#size += measureEventSize(event);
    if (this.#events.length === 0) this.#events = events.slice();
    else this.#events.push(...events);
    // Trim half at once, so that adding stays cheap.
    if (this.#events.length > MAX_TAIL_EVENTS || this.#size > MAX_TAIL_TOTAL_SIZE) this.#trim();
  }

  /**
   * Returns the events after the sequence number `seq`, or `undefined` if the tail no longer contains all
   * of these events.
   */
  findSince(seq: number): LogEvent[] | undefined {
    const first = this.#events[0];
    if (!first || first.seq > seq + 1) return undefined;
    return this.#events.slice(seq + 1 - first.seq);
  }

  clear(): void {
    if (this.#events.length === 0) return;
    this.#events = [];
    this.#size = 0;
  }

  #trim(): void {
    const gone = this.#events.splice(0, Math.ceil(this.#events.length / 2));
    for (const { event } of gone) this.#size -= measureEventSize(event);
  }
}
