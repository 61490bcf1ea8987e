import type { ArtifactReference, SnapshotProgress } from "../../engine/index.ts";
import { LogEvent, type Task } from "../../protocol/index.ts";
import {
  findFirstReferencedSeq,
  mayContainArtifact,
  restoreReferencedContent,
} from "../artifact-references.ts";
import { foldLoggedEvents } from "../logged-events.ts";
import { iterateLoggedEvents, type LogLines } from "../logged-events.ts";
import { selectListedEvents } from "../select-listed-events.ts";
import type { StoredTaskRow } from "./statements/load-task.ts";

/** The snapshot and the log rows of one task. */
export interface TaskContent {
  readonly snapshot: StoredTaskRow | undefined;
  /** Log rows in the order of their events. */
  readonly logRows: readonly LogLines[];
}

/** Selects the snapshot and the log rows among the rows of one task. */
export function toTaskContent(rows: readonly StoredTaskRow[]): TaskContent {
  const logRows = rows
    .filter(({ kind }) => kind === "log")
    .map(({ seq, text }) => ({ seq, lines: text ?? "" }));
  return {
    snapshot: rows.find(({ kind }) => kind === "snapshot"),
    logRows: logRows.toSorted((a, b) => a.seq - b.seq),
  };
}

/** Folds the snapshot, the content that it references in the log, and all later events into the current task. */
export function restoreStoredTask({ snapshot, logRows }: TaskContent): {
  readonly task: Task;
  readonly snapshotProgress: SnapshotProgress;
} {
  const references = parseArtifactReferences(snapshot);
  const snapshotSeq = snapshot?.seq ?? 0;
  const base = parseSnapshot(snapshot);
  let snapshotSize = snapshot?.text?.length ?? 0;
  const firstReferencedSeq = findFirstReferencedSeq(references);
  if (base && firstReferencedSeq !== undefined) {
    const referenced: LogEvent[] = [];
    for (const event of iterateLoggedEvents(logRows, firstReferencedSeq - 1)) {
      if (event.seq > snapshotSeq) break;
      if (!mayContainArtifact(event.jsonText)) continue;
      snapshotSize += event.jsonText.length;
      referenced.push(event);
    }
    restoreReferencedContent(base, references, referenced);
  }
  let logSizeSinceSnapshot = 0;
  const tail = [...iterateLoggedEvents(logRows, snapshotSeq)];
  for (const { jsonText } of tail) logSizeSinceSnapshot += jsonText.length;
  const task = foldLoggedEvents(base, tail) as Task;
  return { task, snapshotProgress: { logSizeSinceSnapshot, snapshotSize, artifactReferences: references } };
}

/** Folds the snapshot and the later events without artifacts. `logRows` need not contain rows of artifacts. */
export function restoreTaskWithoutArtifacts({ snapshot, logRows }: TaskContent): Task {
  const snapshotSeq = snapshot?.seq ?? 0;
  const texts = [...iterateLoggedEvents(logRows, snapshotSeq)].map(({ jsonText }) => jsonText);
  const events = selectListedEvents(texts).map((json, at) =>
    LogEvent.fromJsonText(snapshotSeq + at + 1, json),
  );
  const { artifacts: _, ...task } = foldLoggedEvents(parseSnapshot(snapshot), events) as Task;
  return task;
}

function parseSnapshot(snapshot: StoredTaskRow | undefined): Task | undefined {
  return snapshot && (JSON.parse(snapshot.text as string) as Task);
}

function parseArtifactReferences(snapshot: StoredTaskRow | undefined): ArtifactReference[] {
  const json = snapshot?.artifact_references;
  return json ? (JSON.parse(json) as ArtifactReference[]) : [];
}
