import { isInterrupted, isTerminal, type LogEvent, type TaskState } from "../protocol/index.ts";

const FIRST_SNAPSHOT_SIZE = 64 * 1024;
const MIN_SIZE_AT_STOP = 16 * 1024;

/**
 * Decides when a task's snapshot is due. The intervals grow geometrically, so all snapshots together take at
 * most about twice the size of the log, and a load folds at most about one snapshot's worth of events. Fixed
 * intervals have quadratic cost (measured).
 */
export class SnapshotSchedule {
  readonly #isEnabled: boolean;
  #sizeSinceSnapshot = 0;
  #snapshotSize = 0;

  constructor(isEnabled: boolean) {
    this.#isEnabled = isEnabled;
  }

  /** Counts the events and returns true when a snapshot after them is due. */
  isDue(events: readonly LogEvent[], state: TaskState): boolean {
    if (!this.#isEnabled) return false;
    for (const event of events) this.#sizeSinceSnapshot += event.json.length;
    const hasStopped = isTerminal(state) || isInterrupted(state);
    if (
      this.#sizeSinceSnapshot < Math.max(FIRST_SNAPSHOT_SIZE, this.#snapshotSize) &&
      !(hasStopped && this.#sizeSinceSnapshot > MIN_SIZE_AT_STOP)
    )
      return false;
    this.#snapshotSize += this.#sizeSinceSnapshot;
    this.#sizeSinceSnapshot = 0;
    return true;
  }
}
