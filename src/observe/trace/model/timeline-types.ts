import type { TrafficLine } from "../traffic-line-types.ts";
import type { SequenceNumberRange } from "./sequence-number-set.ts";

/** A line of a record, with its time on the common clock of all writers. */
export interface TimelineEntry<Line extends TrafficLine = TrafficLine> {
  readonly line: Line;
  /** Time in milliseconds since 1970, from the writer's monotonic clock. */
  readonly timeMs: number;
}

/**
 * A peculiarity of an entry in the timeline of a task.
 * - `gap`: events before this entry are missing. `where` is `log` if the server's log misses them, and `stream` if a
 *   reader did not receive them. `frames` means that the tap dropped frames, and the numbers are positions of the stream.
 * - `duplicate`: the event was stored or received before.
 * - `cut`, `stall`, `closed-by-reader`: the stream ended before its last event.
 * - `resume`: the request continues an earlier stream, after event `after` if known.
 * - `retry`: the request repeats an earlier request. `attempt` starts at 2.
 * - `restart`: the server started the turn again. `attempt` starts at 2.
 * - `fault`: the tap injected a fault.
 * - `lost-lines`: the record lacks lines of the writer before this entry.
 */
export type TimelineMark =
  | ({ readonly kind: "gap"; readonly where: "log" | "stream" | "frames" } & SequenceNumberRange)
  | { readonly kind: "duplicate"; readonly where: "log" | "stream"; readonly logSeq?: number }
  | { readonly kind: "cut" | "stall" | "closed-by-reader"; readonly error?: string }
  | { readonly kind: "resume"; readonly after?: number }
  | { readonly kind: "retry" | "restart"; readonly attempt: number }
  | { readonly kind: "fault"; readonly fault: string; readonly detail?: string }
  | { readonly kind: "lost-lines"; readonly lines: number };

/** An entry of a task's timeline with its marks. */
export interface MarkedTimelineEntry extends TimelineEntry {
  readonly marks: readonly TimelineMark[];
}

/** The position of a reader in the log of a task. */
export interface ReaderPosition {
  /** Key of the call in `TrafficModel.calls`. */
  readonly call: string;
  readonly writer: string;
  readonly vantage: string;
  /** The reading agent or client, if known. */
  readonly from?: string;
  /** `log_seq` of the last event that the reader received, if the frames state the number. */
  readonly lastLogSeq?: number;
  readonly frames: number;
  readonly state: "open" | "completed" | "cut" | "stalled" | "canceled" | "failed";
}

/** Orders entries by time. Entries of one writer keep the order in which the writer wrote them. */
export function compareTimelineEntries(a: TimelineEntry, b: TimelineEntry): number {
  return (
    a.timeMs - b.timeMs ||
    (a.line.writer === b.line.writer ? a.line.seq - b.line.seq : a.line.writer < b.line.writer ? -1 : 1)
  );
}
