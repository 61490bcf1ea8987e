import type { ArtifactReference, SnapshotProgress } from "../engine/index.ts";
import { LogEvent, type Task } from "../protocol/index.ts";
import {
  findFirstReferencedSeq,
  mayContainArtifact,
  restoreReferencedContent,
} from "./artifact-references.ts";
import { foldLoggedEvents, iterateLoggedEvents, type LogLines } from "./logged-events.ts";
import { selectListedEvents } from "./select-listed-events.ts";

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
  let snapshotSize = snapshot?.json.length ?? 0;
  let logSizeSinceSnapshot = 0;
  function* iterateReferencedEvents(from: number): Generator<LogEvent> {
    for (const event of iterateLoggedEvents(readLog(from - 1), from - 1)) {
      if (event.seq > snapshotSeq) return;
      if (!mayContainArtifact(event.jsonText)) continue;
      snapshotSize += event.jsonText.length;
      yield event;
    }
  }
  function* iterateLaterEvents(): Generator<LogEvent> {
    for (const event of iterateLoggedEvents(readLog(snapshotSeq), snapshotSeq)) {
      logSizeSinceSnapshot += event.jsonText.length;
      yield event;
    }
  }
  const firstReferencedSeq = findFirstReferencedSeq(artifactReferences);
  if (base && firstReferencedSeq !== undefined)
    restoreReferencedContent(base, artifactReferences, iterateReferencedEvents(firstReferencedSeq));
  const task = foldLoggedEvents(base, iterateLaterEvents()) as Task;
  return { task, snapshotProgress: { logSizeSinceSnapshot, snapshotSize, artifactReferences } };
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
