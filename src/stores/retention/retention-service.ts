import type { SweepReport } from "../../engine/index.ts";
import type { StoreSize, TaskSelector } from "../index.ts";
import { DEFAULT_SWEEP_INTERVAL_MS } from "./retention-policy.ts";
import type { RetentionSweeper, RetentionSweeperDependencies } from "./retention-sweeper.ts";
import { readSweepClocks } from "./sweep-clock.ts";
import type { ClockReading } from "./trusted-time.ts";

/** Applies a retention policy at its interval, and deletes tasks on request. The first sweep loads the sweeper. */
export class RetentionService {
  readonly #context: RetentionSweeperDependencies;
  #sweeper: Promise<RetentionSweeper> | undefined;
  /** The clocks at the start of the server. `undefined` if the store has failed. */
  #startReading: Promise<ClockReading | undefined> | undefined;
  #isClosed = false;
  #cancelTimer: (() => void) | undefined;

  constructor(context: RetentionSweeperDependencies) {
    this.#context = context;
  }

  /** Starts the periodic sweeps, and resolves once the clocks are read. Without a policy, `start` has no effect. */
  async start(): Promise<void> {
    const { deletionStore, retention, clock } = this.#context;
    if (retention === false) return;
    this.#startReading = readSweepClocks(clock, deletionStore.sweepClock).catch(() => undefined);
    this.#scheduleSweep(retention.sweepIntervalMs ?? DEFAULT_SWEEP_INTERVAL_MS);
    await this.#startReading;
  }

  #scheduleSweep(intervalMs: number): void {
    if (this.#isClosed) return;
    const { clock, observer } = this.#context;
    this.#cancelTimer = clock.schedule(intervalMs, () => {
      this.sweepOnSchedule().then(
        () => this.#scheduleSweep(intervalMs),
        (error: unknown) => {
          observer.onError?.({ where: "retention", error });
          this.#scheduleSweep(intervalMs);
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

  /** Applies the retention policy once on request. The request confirms that the wall clock is right. */
  async sweep(): Promise<SweepReport> {
    return await (await this.#loadSweeper()).sweep({ trustsWallClock: true });
  }

  /** Applies the retention policy once. After a jump of the wall clock, tasks that are due by the jump wait. */
  async sweepOnSchedule(): Promise<SweepReport> {
    return await (await this.#loadSweeper()).sweep({ trustsWallClock: false });
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
    this.#sweeper ??= import("./retention-sweeper.ts").then(async ({ RetentionSweeper: Sweeper }) => {
      const sweeper = new Sweeper(this.#context, await this.#startReading);
      // A closed sweeper rejects all calls.
      if (this.#isClosed) void sweeper.close();
      return sweeper;
    });
    return this.#sweeper;
  }
}
