import type { StreamResponse, Task } from "../../../protocol/index.ts";
import { isTruncatedBody, type TrafficLine } from "../../../observe/trace/index.ts";
import { foldRecordedEvent } from "./fold-recorded-event.ts";

/**
 * The state of a task after each event of its log. Events come from the log of a server, or from the frames of a reader,
 * in any order. Going forward costs only the new events.
 */
export class TaskHistory {
  readonly #events = new Map<number, StreamResponse>();
  #lastSeq = 0;
  #highestSeq = 0;
  #task: Task | undefined;
  #foldedSeq = 0;

  /** Number of the last event such that no earlier event is missing. 0 if the first event is missing. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Whether the history has all events up to the newest one. Records shorten events that are too long. */
  get isComplete(): boolean {
    return this.#lastSeq === this.#highestSeq;
  }

  /** Adds the event of a line of the task, unless the line contains no event with a sequence number. */
  addLine(line: TrafficLine): void {
    if ((line.kind !== "event" && line.kind !== "frame") || line.event === undefined) return;
    const { log_seq: seq } = line;
    if (seq === undefined || this.#events.has(seq)) return;
    const event = line.event as unknown as StreamResponse;
    // A snapshot in a stream contains earlier events, and is no event of the log.
    if (line.kind === "frame" && "task" in event && seq !== 1) return;
    this.#highestSeq = Math.max(this.#highestSeq, seq);
    if (isTruncatedBody(event)) return;
    this.#events.set(seq, event);
    while (this.#events.has(this.#lastSeq + 1)) this.#lastSeq += 1;
  }

  /** Returns the task after an event. The result is valid until the next call. */
  buildTaskAt(seq: number): Task | undefined {
    if (seq < this.#foldedSeq) {
      this.#task = undefined;
      this.#foldedSeq = 0;
    }
    const last = Math.min(seq, this.#lastSeq);
    while (this.#foldedSeq < last) {
      this.#foldedSeq += 1;
      const event = this.#events.get(this.#foldedSeq);
      if (event !== undefined) this.#task = foldRecordedEvent(this.#task, event) ?? this.#task;
    }
    return this.#task;
  }
}
