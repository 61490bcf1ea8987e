import type { EventLine, TurnLine } from "../traffic-line-types.ts";
import type { SequenceNumberSet } from "./sequence-number-set.ts";
import type { TimelineEntry, TimelineMark } from "./timeline-types.ts";
import type { StreamGap, TrafficCall } from "./traffic-call.ts";

/** Returns whether the record lacks lines of a writer between two sequence numbers of lines. */
export type HasLostLinesBetween = (writer: string, low: number, high: number) => boolean;

/** The parts of a `TrafficTask` from which its marks are computed. */
interface TaskWithMarks {
  readonly calls: ReadonlySet<TrafficCall>;
  readonly turns: readonly TimelineEntry<TurnLine>[];
  readonly loggedNumbers: SequenceNumberSet;
  readonly unsentNumbers: ReadonlySet<number>;
  readonly duplicateEvents: readonly TimelineEntry<EventLine>[];
  findLoggedEvent(logSeq: number): TimelineEntry<EventLine> | undefined;
}

/**
 * Computes the marks of a task's entries. The cost depends on the number of calls and of irregular entries. The result
 * depends on the set of lines, and not on the order in which the lines of several writers were added.
 */
export function computeTaskMarks(
  task: TaskWithMarks,
  hasLostLinesBetween: HasLostLinesBetween,
): Map<TimelineEntry, TimelineMark[]> {
  const marks = new Map<TimelineEntry, TimelineMark[]>();
  const addMark = (entry: TimelineEntry | undefined, mark: TimelineMark): void => {
    if (!entry) return;
    const known = marks.get(entry);
    if (known) known.push(mark);
    else marks.set(entry, [mark]);
  };
  markLog(task, hasLostLinesBetween, addMark);
  for (const call of task.calls) markStream(task, call, hasLostLinesBetween, addMark);
  markRepeatedRequests(task, addMark);
  for (const entry of task.turns) {
    const { phase, attempt = 1 } = entry.line;
    if (phase === "begin" && attempt > 1) addMark(entry, { kind: "restart", attempt });
  }
  return marks;
}

type AddMark = (entry: TimelineEntry | undefined, mark: TimelineMark) => void;

function markLog(task: TaskWithMarks, hasLostLinesBetween: HasLostLinesBetween, addMark: AddMark): void {
  for (const { from, to } of task.loggedNumbers.listGaps()) {
    const before = task.findLoggedEvent(from - 1);
    const after = task.findLoggedEvent(to + 1);
    const isLostByRecord =
      before?.line.writer === after?.line.writer &&
      before !== undefined &&
      after !== undefined &&
      hasLostLinesBetween(after.line.writer, before.line.seq, after.line.seq);
    addMark(
      after,
      isLostByRecord ? { kind: "lost-lines", lines: to - from + 1 } : { kind: "gap", where: "log", from, to },
    );
  }
  for (const entry of task.duplicateEvents)
    addMark(entry, { kind: "duplicate", where: "log", logSeq: entry.line.log_seq });
}

function markStream(
  task: TaskWithMarks,
  call: TrafficCall,
  hasLostLinesBetween: HasLostLinesBetween,
  addMark: AddMark,
): void {
  for (const gap of call.gaps)
    if (gap.isCertain || !isExplainedByUnsentEvents(task, gap))
      addMark(gap.entry, { kind: "gap", where: "stream", from: gap.from, to: gap.to });
  for (const entry of call.duplicates) {
    const { log_seq } = entry.line;
    addMark(entry, {
      kind: "duplicate",
      where: "stream",
      ...(log_seq !== undefined && { logSeq: log_seq }),
    });
  }
  for (const { entry, from, to, previousLine } of call.frameHoles) {
    const isLostByRecord = hasLostLinesBetween(entry.line.writer, previousLine, entry.line.seq);
    if (isLostByRecord) addMark(entry, { kind: "lost-lines", lines: to - from + 1 });
    else addMark(entry, { kind: "gap", where: "frames", from, to });
  }
  const { reason, error, frames } = call.end?.line ?? {};
  for (const entry of call.faults) {
    const { fault, detail, index = 0 } = entry.line;
    addMark(entry, { kind: "fault", fault, ...(detail !== undefined && { detail }) });
    // If the reader closes the stream before the next frame, a dropped frame leaves no hole between two frames.
    const isAfterLastFrame = frames === call.frameCount && index > (call.lastFrame?.line.index ?? 0);
    if (fault === "drop" && isAfterLastFrame && reason !== "cut")
      addMark(entry, { kind: "gap", where: "frames", from: index, to: index });
  }
  if (reason === undefined || reason === "completed") return;
  const kind = reason === "cut" ? "cut" : reason === "stalled" ? "stall" : "closed-by-reader";
  addMark(call.end, { kind, ...(error !== undefined && { error }) });
}

/**
 * Returns whether servers did not send the missing events on purpose. Servers do not send the messages of users. If the
 * record contains no log, each message to the existing task explains one missing event.
 */
function isExplainedByUnsentEvents(task: TaskWithMarks, { from, to, entry }: StreamGap): boolean {
  let unknown = 0;
  for (let number = from; number <= to; number++) {
    if (task.unsentNumbers.has(number)) continue;
    if (task.loggedNumbers.has(number)) return false;
    unknown += 1;
    if (unknown > task.calls.size) return false;
  }
  if (unknown === 0) return true;
  const messageIds = new Set<string>();
  for (const { request, messageId } of task.calls)
    if (
      request &&
      messageId !== undefined &&
      request.line.task_id !== undefined &&
      request.timeMs <= entry.timeMs
    )
      messageIds.add(messageId);
  return unknown <= messageIds.size;
}

/** Marks requests that repeat an earlier request, or that continue an earlier stream of the same reader. */
function markRepeatedRequests(task: TaskWithMarks, addMark: AddMark): void {
  const calls = [...task.calls]
    .filter((call) => call.request !== undefined)
    .toSorted((a, b) => (a.startMs ?? 0) - (b.startMs ?? 0) || (a.key < b.key ? -1 : 1));
  const earlierRequests = new Map<string, { attempts: number; hasFailed: boolean }>();
  const interruptedReaders = new Set<string>();
  for (const call of calls) {
    const { line } = call.request as NonNullable<TrafficCall["request"]>;
    const reader = `${call.writer}\n${call.vantage}\n${line.from ?? ""}`;
    if (line.operation === "SubscribeToTask") {
      if (line.after !== undefined || interruptedReaders.has(reader))
        addMark(call.request, { kind: "resume", ...(line.after !== undefined && { after: line.after }) });
    } else {
      const request = `${reader}\n${line.operation}\n${call.messageId ?? ""}`;
      const { attempts, hasFailed } = earlierRequests.get(request) ?? { attempts: 0, hasFailed: false };
      // A message keeps its id when a client sends it again. Other requests may be repeated for their own sake.
      const isRetry = call.messageId === undefined ? hasFailed : attempts > 0;
      if (isRetry) addMark(call.request, { kind: "retry", attempt: attempts + 1 });
      const countsAttempts = call.messageId !== undefined || call.hasFailed;
      earlierRequests.set(request, {
        attempts: countsAttempts ? attempts + 1 : 0,
        hasFailed: call.hasFailed,
      });
    }
    if (call.wasInterrupted) interruptedReaders.add(reader);
    else if (call.isStream) interruptedReaders.delete(reader);
  }
}
