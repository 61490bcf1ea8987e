import { isInterrupted, isTerminal, type LogEvent, type TaskState } from "../protocol/index.ts";

const FIRST = 64 * 1024;
const AT_REST = 16 * 1024;

/**
 * When a task's snapshot is due: geometrically, so that all snapshots together are at most about twice the log, and a
 * load never folds more than about one snapshot's worth of events (measured: fixed intervals are quadratic).
 */
export class SnapshotSchedule {
  readonly #wanted: boolean;
  #since = 0;
  #covered = 0;

  constructor(wanted: boolean) {
    this.#wanted = wanted;
  }

  /** Counts the events in; true when the snapshot behind them is due. */
  isDue(events: readonly LogEvent[], state: TaskState): boolean {
    if (!this.#wanted) return false;
    for (const event of events) this.#since += event.json.length;
    const atRest = isTerminal(state) || isInterrupted(state);
    if (this.#since < Math.max(FIRST, this.#covered) && !(atRest && this.#since > AT_REST)) return false;
    this.#covered += this.#since;
    this.#since = 0;
    return true;
  }
}
