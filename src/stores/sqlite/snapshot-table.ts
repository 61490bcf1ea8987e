import type { SqlDatabase, SqlStatement } from "./sql-database.ts";
import type { ArtifactReference, SnapshotProgress } from "../../engine/index.ts";
import type { LogEvent, Task } from "../../protocol/index.ts";
import {
  findFirstReferencedSeq,
  mayContainArtifact,
  omitReferencedContent,
  restoreReferencedContent,
} from "../artifact-references.ts";
import { foldLoggedEvents } from "../fold-logged-events.ts";
import { iterateLoggedEvents, type LogLines } from "../iterate-logged-events.ts";

interface SnapshotRow {
  readonly seq: number;
  readonly json: string;
  /** References as JSON, or `null` if the snapshot contains the entire task. */
  readonly artifact_references: string | null;
}

/** A snapshot without the content that it references in the log. */
interface Snapshot {
  readonly seq: number;
  readonly task: Task;
  readonly jsonSize: number;
  readonly references: readonly ArtifactReference[];
}

/** Reads and writes snapshots. Restores tasks from their snapshots and logs. */
export class SnapshotTable {
  readonly #upsertSnapshot: SqlStatement;
  readonly #selectSnapshot: SqlStatement;
  readonly #selectLog: SqlStatement;

  readonly #maxRowBytes: number;

  /** The table contains no snapshot with more than `maxRowBytes` bytes. */
  constructor(db: SqlDatabase, maxRowBytes: number = Infinity) {
    this.#maxRowBytes = maxRowBytes;
    this.#upsertSnapshot = db.prepare(
      `INSERT OR REPLACE INTO snapshot (task, seq, json, artifact_references, first_referenced_seq)
       VALUES (?, ?, ?, ?, ?)`,
    );
    this.#selectSnapshot = db.prepare("SELECT seq, json, artifact_references FROM snapshot WHERE task = ?");
    this.#selectLog = db.prepare("SELECT seq, lines FROM log WHERE task = ? AND seq > ? ORDER BY seq");
  }

  /**
   * Stores the snapshot of a task after the event `seq`. Keeps the earlier snapshot if the new one is too large, because
   * the log contains all later events. Call `upsert` only within a transaction.
   */
  upsert(key: number, seq: number, task: Task, references: readonly ArtifactReference[] = []): void {
    const json = JSON.stringify(omitReferencedContent(task, references));
    if (this.#maxRowBytes < Infinity && Buffer.byteLength(json) > this.#maxRowBytes) return;
    const firstSeq = findFirstReferencedSeq(references);
    if (firstSeq === undefined) this.#upsertSnapshot.run(key, seq, json, null, null);
    else this.#upsertSnapshot.run(key, seq, json, JSON.stringify(references), firstSeq);
  }

  /** Restores the current task from its newest snapshot and from its log. */
  restoreTask(key: number): { readonly task: Task; readonly snapshotProgress: SnapshotProgress } {
    const snapshot = this.#findSnapshot(key);
    let snapshotSize = snapshot?.jsonSize ?? 0;
    if (snapshot && snapshot.references.length > 0) {
      const referenced = countSize(this.#iterateReferencedEvents(key, snapshot), (size) => {
        snapshotSize += size;
      });
      restoreReferencedContent(snapshot.task, snapshot.references, referenced);
    }
    let logSizeSinceSnapshot = 0;
    const tail = countSize(this.iterateEventsAfter(key, snapshot?.seq ?? 0), (size) => {
      logSizeSinceSnapshot += size;
    });
    const task = foldLoggedEvents(snapshot?.task, tail) as Task;
    const artifactReferences = snapshot?.references ?? [];
    return { task, snapshotProgress: { logSizeSinceSnapshot, snapshotSize, artifactReferences } };
  }

  /** Yields the events of the task after the sequence number `after`, in order. */
  *iterateEventsAfter(key: number, after: number): Generator<LogEvent> {
    yield* iterateLoggedEvents(this.#selectLog.iterate(key, after) as unknown as Iterable<LogLines>, after);
  }

  #findSnapshot(key: number): Snapshot | undefined {
    const row = this.#selectSnapshot.get(key) as unknown as SnapshotRow | undefined;
    return (
      row && {
        seq: row.seq,
        task: JSON.parse(row.json) as Task,
        jsonSize: row.json.length,
        references: decodeArtifactReferences(row.artifact_references),
      }
    );
  }

  *#iterateReferencedEvents(key: number, { seq, references }: Snapshot): Generator<LogEvent> {
    const fromSeq = findFirstReferencedSeq(references) ?? Infinity;
    for (const event of this.iterateEventsAfter(key, fromSeq - 1)) {
      if (event.seq > seq) return;
      if (mayContainArtifact(event.jsonText)) yield event;
    }
  }
}

function decodeArtifactReferences(json: string | null): ArtifactReference[] {
  return json === null ? [] : (JSON.parse(json) as ArtifactReference[]);
}

function* countSize(events: Iterable<LogEvent>, add: (size: number) => void): Generator<LogEvent> {
  for (const event of events) {
    add(event.jsonText.length);
    yield event;
  }
}
