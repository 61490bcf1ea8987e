import { SwapRemoveSet, type SwapRemoveSetItem } from "../../base/data-structures/index.ts";

/**
 * Time in milliseconds between two checks for new input. The flusher holds buffered text for at most two
 * check intervals. Readers do not notice a delay of two check intervals.
 */
const IDLE_CHECK_INTERVAL_MS = 25;

/** An ADK run whose output may be buffered. */
export interface FlushableRun extends SwapRemoveSetItem {
  /** True if the run has received no input since the last check. */
  isIdle: boolean;
  flushWhenIdle(): void;
}

/**
 * Notifies runs with buffered output if they receive no input for a while. All runs of an agent share one
 * timer. A separate timer for each run would cost as much time as five events.
 */
export class IdleRunFlusher {
  readonly #listeners = new SwapRemoveSet<FlushableRun>();
  #timer: NodeJS.Timeout | undefined;

  /** Marks a run as active and starts to watch it. */
  watchRun(listener: FlushableRun): void {
    listener.isIdle = false;
    if (listener.slot >= 0) return;
    this.#listeners.add(listener);
    this.#timer ??= setInterval(this.#notifyIdle, IDLE_CHECK_INTERVAL_MS).unref();
  }

  unwatchRun(listener: FlushableRun): void {
    this.#listeners.delete(listener);
  }

  readonly #notifyIdle = (): void => {
    if (this.#listeners.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const listener of this.#listeners.toArray()) {
      if (listener.isIdle) {
        this.unwatchRun(listener);
        listener.flushWhenIdle();
      } else listener.isIdle = true;
    }
  };
}
