import { isInterrupted, isTerminal, type LogEvent, type TaskState } from "../protocol/index.ts";

const FIRST_SNAPSHOT_LOG_SIZE = 64 * 1024;
const MIN_SNAPSHOT_LOG_SIZE_AT_TURN_STOP = 16 * 1024;

/**
 * Decides when the store needs a new snapshot of a task. The intervals between snapshots grow geometrically.
 * All snapshots of a task together are at most about twice as large as the log. To load a task, the store
 * folds at most about as many events as the newest snapshot contains. Snapshots at fixed intervals have
 * quadratic cost (measured).
 */
export class SnapshotSchedule {
  readonly #isEnabled: boolean;
  #sizeSinceSnapshot = 0;
  #snapshotSize = 0;

  constructor(isEnabled: boolean) {
    this.#isEnabled = isEnabled;
  }

  /** Counts the events and returns true if the task needs a snapshot after these events. */
  isDue(events: readonly LogEvent[], state: TaskState): boolean {
    if (!this.#isEnabled) return false;
    for (const event of events) this.#sizeSinceSnapshot += event.jsonText.length;
    const hasStopped = isTerminal(state) || isInterrupted(state);
    if (
      this.#sizeSinceSnapshot < Math.max(FIRST_SNAPSHOT_LOG_SIZE, this.#snapshotSize) &&
      !(hasStopped && this.#sizeSinceSnapshot > MIN_SNAPSHOT_LOG_SIZE_AT_TURN_STOP)
    )
      return false;
    this.#snapshotSize += this.#sizeSinceSnapshot;
    this.#sizeSinceSnapshot = 0;
    return true;
  }
}
