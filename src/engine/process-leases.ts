import type { TaskStore } from "./task-store.ts";
import type { ClaimedTask, TaskLease, TurnStore } from "./turn-store.ts";

/** Time in milliseconds between two recoveries if the leases end with the process. */
export const PROCESS_RENEW_INTERVAL_MS = 5000;

/** The leases of a store without `turns`. The turns that the process has abandoned can be claimed again. */
export class ProcessLeases implements Pick<
  TurnStore,
  "renewIntervalMs" | "claim" | "renew" | "release" | "listQueued"
> {
  readonly renewIntervalMs: number = PROCESS_RENEW_INTERVAL_MS;
  readonly #store: Pick<TaskStore, "load">;
  readonly #released = new Set<TaskLease>();

  constructor(store: Pick<TaskStore, "load">) {
    this.#store = store;
  }

  async claim(agent: string, limit: number): Promise<ClaimedTask[]> {
    const leases = [...this.#released].filter(({ scope }) => scope.agent === agent).slice(0, limit);
    const claimed: ClaimedTask[] = [];
    for (const lease of leases) {
      const stored = await this.#store.load(lease.scope, lease.taskId);
      this.#released.delete(lease);
      if (!stored) continue;
      const { task, seq, epoch } = stored;
      const { state, timestamp = "" } = task.status;
      claimed.push({ ...lease, epoch, seq, contextId: task.contextId, state, timestamp });
    }
    return claimed;
  }

  async renew(): Promise<readonly TaskLease[]> {
    return [];
  }

  async release(lease: TaskLease): Promise<void> {
    this.#released.add(lease);
  }

  async listQueued(): Promise<readonly TaskLease[]> {
    return [];
  }
}
