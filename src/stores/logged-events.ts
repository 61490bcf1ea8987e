import { countUtf8Bytes } from "../base/data-structures/index.ts";
import type { TaskStore } from "../engine/index.ts";
import { A2AError, fold, isEventRefusal, LogEvent, type Task } from "../protocol/index.ts";

/** A stored row of the log, which contains the events of one append. */
export interface LogLines {
  /** Sequence number of the last event in `lines`. */
  readonly seq: number;
  /** Events as JSON lines. */
  readonly lines: string;
  /** Time of the append in milliseconds since 1970. Only `readEvents` needs it. */
  readonly committedAt?: number;
}

/** The number of events and bytes of JSON with which a page of events ends. */
export type EventPageLimit = Parameters<TaskStore["readEvents"]>[3];

/** Yields the events after the sequence number `after`, in order. The rows may contain earlier events. */
export function* iterateLoggedEvents(rows: Iterable<LogLines>, after: number): Generator<LogEvent> {
  for (const { seq, lines, committedAt } of rows) {
    if (seq <= after) continue;
    const events = lines.split("\n");
    const before = seq - events.length;
    for (let at = Math.max(0, after - before); at < events.length; at++)
      yield LogEvent.fromJsonText(before + at + 1, events[at] as string, committedAt);
  }
}

/**
 * Applies logged events to `task`, and returns the result. Callers must not use `task` after the call.
 * Returns `undefined` if there is neither a task nor an event.
 */
export function foldLoggedEvents(task: Task | undefined, events: Iterable<LogEvent>): Task | undefined {
  let folded = task;
  for (const { seq, event } of events) {
    const result = fold(folded, event);
    if (isEventRefusal(result)) {
      throw new A2AError(
        "INTERNAL",
        `The log of a task is corrupt at event ${seq}: ${result.refusalReason}. Restore the store from a backup.`,
      );
    }
    folded = result;
  }
  return folded;
}

/**
 * Returns the first of the events, which follow the sequence number `after`, up to a limit. Returns no events if the
 * store has deleted the event after `after`.
 */
export function takeEventPage(events: Iterable<LogEvent>, after: number, limit: EventPageLimit): LogEvent[] {
  const page: LogEvent[] = [];
  let bytes = 0;
  for (const event of events) {
    if (page.length === 0 && event.seq > after + 1) break;
    page.push(event);
    bytes += countUtf8Bytes(event.jsonText);
    if (page.length >= limit.events || bytes > limit.maxBytes) break;
  }
  return page;
}
