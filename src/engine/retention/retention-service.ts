import type { SweepReport } from "../observer.ts";
import { DEFAULT_SWEEP_INTERVAL_MS } from "./retention-policy.ts";
import type { RetentionSweeper, RetentionSweeperDependencies } from "./retention-sweeper.ts";
import type { StoreSize, TaskSelector } from "./task-deletion-store.ts";

/** Applies a retention policy at its interval, and deletes tasks on request. The first sweep loads the sweeper. */
export class RetentionService {
  readonly #context: RetentionSweeperDependencies;
  #sweeper: Promise<RetentionSweeper> | undefined;
  #isClosed = false;
  #cancelTimer: (() => void) | undefined;

  constructor(context: RetentionSweeperDependencies) {
    this.#context = context;
  }

  /** Starts the periodic sweeps. Without a retention policy, `start` has no effect. */
  start(): void {
    const { retention, clock, observer } = this.#context;
    if (retention === false || this.#isClosed) return;
    this.#cancelTimer = clock.schedule(retention.sweepIntervalMs ?? DEFAULT_SWEEP_INTERVAL_MS, () => {
      this.sweep().then(
        () => this.start(),
        (error: unknown) => {
          observer.onError?.({ where: "retention", error });
          this.start();
        },
      );
    });
  }

  /** Stops the sweeps and resolves once no step is running. The next process continues the work. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    await (await this.#sweeper)?.close();
  }

  /** Applies the retention policy once. */
  async sweep(): Promise<SweepReport> {
    return await (await this.#loadSweeper()).sweep();
  }

  /** Returns all free space to the file system, and resolves with the new size. */
  async compact(): Promise<StoreSize> {
    return await (await this.#loadSweeper()).compact();
  }

  /**
   * Ends and deletes all tasks that match the selector, and overwrites their content in the store's file.
   * Resolves with the number of deleted tasks once the deletion is durable.
   */
  async erase(selector: TaskSelector): Promise<number> {
    return await (await this.#loadSweeper()).erase(selector);
  }

  #loadSweeper(): Promise<RetentionSweeper> {
    this.#sweeper ??= import("./retention-sweeper.ts").then(({ RetentionSweeper: Sweeper }) => {
      const sweeper = new Sweeper(this.#context);
      // A closed sweeper rejects all calls.
      if (this.#isClosed) void sweeper.close();
      return sweeper;
    });
    return this.#sweeper;
  }
}
