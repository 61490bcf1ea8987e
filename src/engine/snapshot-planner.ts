import { isInterrupted, isTerminal, type LogEvent, type Task, type TaskState } from "../protocol/index.ts";
import { ArtifactOrigins } from "./artifact-origins.ts";
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
