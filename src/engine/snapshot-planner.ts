import {
  estimateJsonSize,
  isInterrupted,
  isTerminal,
  type LogEvent,
  type Task,
  type TaskArtifactUpdateEvent,
  type TaskState,
} from "../protocol/index.ts";
import type { ArtifactReference, SnapshotProgress } from "./task-store.ts";

const FIRST_SNAPSHOT_LOG_SIZE = 64 * 1024;
const MIN_SNAPSHOT_LOG_SIZE_AT_TURN_STOP = 16 * 1024;

/**
 * Decides when the store needs a new snapshot of a task, and which artifacts the snapshot references. The
 * intervals between snapshots grow geometrically. The total size of a task's snapshots is at most about twice
 * the size of the log. To load a task, the store applies at most about as many events as the newest snapshot
 * already includes. Snapshots at fixed intervals would have quadratic cost (measured).
 */
export class SnapshotPlanner {
  readonly #origins: ArtifactOrigins;
  #sizeSinceSnapshot: number;
  #snapshotSize: number;

  constructor(stored: SnapshotProgress | undefined) {
    this.#origins = new ArtifactOrigins(stored?.artifactReferences);
    this.#sizeSinceSnapshot = stored?.logSizeSinceSnapshot ?? 0;
    this.#snapshotSize = stored?.snapshotSize ?? 0;
  }

  /**
   * Counts new events. If the task needs a snapshot after these events, `planSnapshot` returns the references
   * of the snapshot. `task` is the task before the events, and `state` is its state after the events.
   */
  planSnapshot(
    task: Task | undefined,
    events: readonly LogEvent[],
    state: TaskState,
  ): ArtifactReference[] | undefined {
    for (const event of events) this.#sizeSinceSnapshot += event.jsonText.length;
    this.#origins.recordEvents(task, events);
    if (this.#sizeSinceSnapshot < this.#getDueSize(state)) return undefined;
    this.#snapshotSize += this.#sizeSinceSnapshot;
    this.#sizeSinceSnapshot = 0;
    return this.#origins.listReferences();
  }

  /** Returns the size of the events after the newest snapshot at which the next snapshot is due. */
  #getDueSize(state: TaskState): number {
    // A task ends only once, so the last snapshot needs no minimum interval.
    if (isTerminal(state)) return MIN_SNAPSHOT_LOG_SIZE_AT_TURN_STOP;
    const first = isInterrupted(state) ? MIN_SNAPSHOT_LOG_SIZE_AT_TURN_STOP : FIRST_SNAPSHOT_LOG_SIZE;
    return Math.max(first, this.#snapshotSize);
  }
}

/** Smallest content, in characters of JSON, for which a reference is worthwhile. */
const MIN_REFERENCED_SIZE = 4 * 1024;
/** Content, in characters of JSON, that is always referenced, because serializing it blocks the event loop. */
const MAX_INLINE_SIZE = 256 * 1024;
/** Largest ratio between the log of an artifact and its content at which reading the log is as fast. */
const MAX_LOG_OVERHEAD = 2;

/** The place of an artifact's content in the log. */
interface ArtifactOrigin {
  /** Sequence number of the event with which the content begins, or a smaller number. */
  readonly fromSeq: number;
  /** Approximate size of the content in characters of JSON. */
  contentSize: number;
  /** Size of the events that contain the content, in characters of JSON. */
  logSize: number;
}

/** Records which events of a task's log contain the content of each artifact. */
export class ArtifactOrigins {
  readonly #byId = new Map<string, ArtifactOrigin>();

  /** `references` are the references of the task's newest snapshot. */
  constructor(references: readonly ArtifactReference[] = []) {
    // A referenced artifact remains referenced until an event replaces its content.
    for (const { artifactId, fromSeq } of references)
      this.#byId.set(artifactId, { fromSeq, contentSize: Infinity, logSize: 0 });
  }

  /** Records new events. `task` is the task before the events. */
  recordEvents(task: Task | undefined, events: readonly LogEvent[]): void {
    for (const { seq, event, jsonText } of events)
      if ("artifactUpdate" in event) this.#recordUpdate(task, seq, event.artifactUpdate, jsonText.length);
  }

  #recordUpdate(
    task: Task | undefined,
    seq: number,
    { artifact, append }: TaskArtifactUpdateEvent,
    logSize: number,
  ): void {
    const { artifactId, parts } = artifact;
    const contentSize = estimateJsonSize(parts);
    const origin = append ? (this.#byId.get(artifactId) ?? findEarlierOrigin(task, artifactId)) : undefined;
    this.#byId.set(artifactId, {
      fromSeq: origin?.fromSeq ?? seq,
      contentSize: contentSize + (origin?.contentSize ?? 0),
      logSize: logSize + (origin?.logSize ?? 0),
    });
  }

  /** Returns references for the artifacts whose content a snapshot must not repeat. */
  listReferences(): ArtifactReference[] {
    const references: ArtifactReference[] = [];
    for (const [artifactId, { fromSeq, contentSize, logSize }] of this.#byId)
      if (isReferenceWorthwhile(contentSize, logSize)) references.push({ artifactId, fromSeq });
    return references;
  }
}

/** Returns the origin of an artifact that an earlier server process began. The log contains all of its events. */
function findEarlierOrigin(task: Task | undefined, artifactId: string): ArtifactOrigin | undefined {
  const artifact = task?.artifacts?.findLast((known) => known.artifactId === artifactId);
  if (!artifact) return undefined;
  const size = estimateJsonSize(artifact.parts);
  return { fromSeq: 1, contentSize: size, logSize: size };
}

/** Small chunks need much more space in the log than in the artifact, so reading them from the log is slow. */
function isReferenceWorthwhile(contentSize: number, logSize: number): boolean {
  if (contentSize >= MAX_INLINE_SIZE) return true;
  return contentSize >= MIN_REFERENCED_SIZE && logSize <= MAX_LOG_OVERHEAD * contentSize;
}
