import { isInterrupted, isTerminal, type LogEvent, type TaskState } from "../protocol/index.ts";

const FIRST_SNAPSHOT_SIZE = 64 * 1024;
const MIN_SIZE_AT_STOP = 16 * 1024;

/**
 * When a task's snapshot is due: geometrically, so that all snapshots together are at most about twice the log, and a
 * load never folds more than about one snapshot's worth of events (measured: fixed intervals are quadratic).
 */
export class SnapshotSchedule {
  readonly #isEnabled: boolean;
  #sizeSinceSnapshot = 0;
  #snapshotSize = 0;

  constructor(wanted: boolean) {
    this.#isEnabled = wanted;
  }

  /** Counts the events in; true when the snapshot behind them is due. */
  isDue(events: readonly LogEvent[], state: TaskState): boolean {
    if (!this.#isEnabled) return false;
    for (const event of events) this.#sizeSinceSnapshot += event.json.length;
    const atRest = isTerminal(state) || isInterrupted(state);
    if (
      this.#sizeSinceSnapshot < Math.max(FIRST_SNAPSHOT_SIZE, this.#snapshotSize) &&
      !(atRest && this.#sizeSinceSnapshot > MIN_SIZE_AT_STOP)
    )
      return false;
    this.#snapshotSize += this.#sizeSinceSnapshot;
    this.#sizeSinceSnapshot = 0;
    return true;
  }
}
