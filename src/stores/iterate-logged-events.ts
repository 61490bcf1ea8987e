import { LogEvent } from "../protocol/index.ts";

/** A stored row of the log, which contains the events of one append. */
export interface LogLines {
  /** Sequence number of the last event in `lines`. */
  readonly seq: number;
  /** Events as JSON lines. */
  readonly lines: string;
}

/** Yields the events after the sequence number `after`, in order. The first row may contain earlier events. */
export function* iterateLoggedEvents(rows: Iterable<LogLines>, after: number): Generator<LogEvent> {
  for (const { seq, lines } of rows) {
    const events = lines.split("\n");
    const before = seq - events.length;
    for (const [index, json] of events.entries())
      if (before + index >= after) yield LogEvent.fromJsonText(before + index + 1, json);
  }
}
