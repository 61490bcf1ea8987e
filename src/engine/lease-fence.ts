import type { Clock } from "./clock.ts";
import type { RunnerRegistry } from "./runner-registry.ts";
import type { TaskStore } from "./task-store.ts";

interface LeaseFenceDependencies {
  readonly store: TaskStore;
  readonly runners: RunnerRegistry;
  readonly clock: Clock;
  /** Renews the leases if a recovery takes so long that its next renewal would be late. */
  readonly renewDuringRecovery: () => Promise<void>;
}

/**
 * Stops the turns of a node that cannot renew its leases, before the leases end and another node runs the turns. The
 * store refuses the appends of a node without a lease in any case. The fence also stops the agents, which have effects
 * outside of the store.
 */
export class LeaseFence {
  readonly #context: LeaseFenceDependencies;
  #cancelTimer: () => void = () => {};

  constructor(context: LeaseFenceDependencies) {
    this.#context = context;
  }

  /** Watches the leases until `stop`, if the leases of the store can end before their process. */
  watch(): void {
    const { leases } = this.#context.store;
    const untilFenceMs = leases.getTimeUntilFence?.();
    if (untilFenceMs === undefined) return;
    if (untilFenceMs <= 0) this.#stopTurns();
    void this.#context.renewDuringRecovery().catch(() => {});
    const { renewIntervalMs } = leases;
    const delayMs = untilFenceMs > 0 ? Math.min(untilFenceMs, renewIntervalMs) : renewIntervalMs;
    this.#cancelTimer = this.#context.clock.schedule(delayMs, () => this.watch());
  }

  stop(): void {
    this.#cancelTimer();
  }

  #stopTurns(): void {
    const cause = new Error("The server could not renew the leases of its tasks in time.");
    for (const runner of this.#context.runners.list())
      if (runner.mustKeepTurnInStore) runner.onCommitFailed(cause);
  }
}
