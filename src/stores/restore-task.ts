import type { ArtifactReference, SnapshotProgress } from "../engine/index.ts";
import { LogEvent, type Task } from "../protocol/index.ts";
import {
  findFirstReferencedSeq,
  mayContainArtifact,
  restoreReferencedContent,
} from "./artifact-references.ts";
import { foldLoggedEvents, iterateLoggedEvents, type LogLines } from "./logged-events.ts";
import { isArtifactEventText } from "./to-log-rows.ts";

/** A row of the table `snapshot`. */
export interface SnapshotRow {
  readonly seq: number;
  readonly json: string;
  /** References as JSON, or `null` if the snapshot contains the entire task. */
  readonly artifactReferences: string | null;
}

/** The current task, and the sizes of its snapshot and of its later events. */
export interface RestoredTask {
  readonly task: Task;
  readonly snapshotProgress: SnapshotProgress;
}

/**
 * Folds the snapshot, the content that it references in the log, and all later events into the current task. `readLog`
 * returns the log rows with the events after a sequence number, in order. The rows may also contain earlier events.
 */
export function restoreTask(
  snapshot: SnapshotRow | undefined,
  readLog: (after: number) => Iterable<LogLines>,
): RestoredTask {
  const json = snapshot?.artifactReferences;
  const artifactReferences = json ? (JSON.parse(json) as ArtifactReference[]) : [];
  const base = snapshot && (JSON.parse(snapshot.json) as Task);
  const snapshotSeq = snapshot?.seq ?? 0;
  const snapshotSize = { size: snapshot?.json.length ?? 0 };
  const logSize = { size: 0 };
  const firstReferencedSeq = findFirstReferencedSeq(artifactReferences);
  if (base && firstReferencedSeq !== undefined) {
    const rows = readLog(firstReferencedSeq - 1);
    const events = iterateReferencedEvents(rows, firstReferencedSeq, snapshotSeq);
    restoreReferencedContent(base, artifactReferences, countSizes(events, snapshotSize));
  }
  const laterEvents = iterateLoggedEvents(readLog(snapshotSeq), snapshotSeq);
  const task = foldLoggedEvents(base, countSizes(laterEvents, logSize)) as Task;
  return {
    task,
    snapshotProgress: {
      logSizeSinceSnapshot: logSize.size,
      snapshotSize: snapshotSize.size,
      artifactReferences,
    },
  };
}

/** Yields the events from `first` to `last` that may contain an artifact. */
function* iterateReferencedEvents(
  rows: Iterable<LogLines>,
  first: number,
  last: number,
): Generator<LogEvent> {
  for (const event of iterateLoggedEvents(rows, first - 1)) {
    if (event.seq > last) return;
    if (mayContainArtifact(event.jsonText)) yield event;
  }
}

/**
 * Adds the sizes of the events that it yields to `total`. No generator function is created for each task, because V8 keeps
 * the scope of a generator function until the next full garbage collection.
 */
function* countSizes(events: Iterable<LogEvent>, total: { size: number }): Generator<LogEvent> {
  for (const event of events) {
    total.size += event.jsonText.length;
    yield event;
  }
}

/** Folds the snapshot and the later events without artifacts. `rows` need not contain rows of artifacts. */
export function restoreTaskWithoutArtifacts(
  snapshot: Pick<SnapshotRow, "seq" | "json"> | undefined,
  rows: Iterable<LogLines>,
): Task {
  const snapshotSeq = snapshot?.seq ?? 0;
  const texts = Array.from(iterateLoggedEvents(rows, snapshotSeq), ({ jsonText }) => jsonText);
  const events = selectListedEvents(texts).map((text, at) =>
    LogEvent.fromJsonText(snapshotSeq + at + 1, text),
  );
  const base = snapshot && (JSON.parse(snapshot.json) as Task);
  const { artifacts: _, ...task } = foldLoggedEvents(base, events) as Task;
  return task;
}

/**
 * Selects the stored events that a task without its artifacts depends on. The function omits artifact events, and
 * omits a status that a later status replaces without a trace. It parses nothing, because parsing is the largest part
 * of the cost of a task list.
 */
export function selectListedEvents(eventTexts: readonly string[]): string[] {
  const selected: string[] = [];
  for (const text of eventTexts) {
    if (isArtifactEventText(text)) continue;
    const previous = selected.at(-1);
    if (previous !== undefined && isStatusUpdateText(text) && isPlainStatusUpdateText(previous))
      selected.pop();
    selected.push(text);
  }
  return selected;
}

function isStatusUpdateText(eventText: string): boolean {
  return eventText.startsWith('{"statusUpdate"');
}

/** Returns true if a status update has neither a message nor metadata, which outlast the status. */
function isPlainStatusUpdateText(eventText: string): boolean {
  return (
    isStatusUpdateText(eventText) && !eventText.includes('"message"') && !eventText.includes('"metadata"')
  );
}
