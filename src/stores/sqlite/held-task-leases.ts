import type { LogAppend, TaskLease, TaskScope } from "../../engine/index.ts";
import { getTaskKey } from "../task-owner-scope-key.ts";

/**
 * The leases that the process holds. Only one process can open the file, so the file needs no record of the
 * holder: a process that opens the file holds no lease, and no other process is alive.
 */
export class HeldTaskLeases {
  readonly #epochs = new Map<string, number>();

  has(scope: TaskScope, taskId: string): boolean {
    return this.#epochs.has(getTaskKey(scope, taskId));
  }

  /** Holds a lease, unless the process holds a newer lease of the task. */
  hold({ scope, taskId, epoch }: TaskLease): void {
    const key = getTaskKey(scope, taskId);
    if ((this.#epochs.get(key) ?? 0) <= epoch) this.#epochs.set(key, epoch);
  }

  release({ scope, taskId, epoch }: TaskLease): void {
    if (this.#epochs.size === 0) return;
    const key = getTaskKey(scope, taskId);
    if (this.#epochs.get(key) === epoch) this.#epochs.delete(key);
  }

  /**
   * Holds the leases of the turns that a batch begins. Call `holdBegunTurns` before the commit, because a commit
   * whose sync fails may nevertheless be in the file. A writer whose commit fails permanently releases its lease.
   */
  holdBegunTurns(batch: readonly LogAppend[]): void {
    for (const append of batch) if (append.hasRunningTurn) this.hold(append);
  }

  /** Releases the leases of the turns that a committed batch has ended or left to other nodes. */
  releaseEndedTurns(batch: readonly LogAppend[]): void {
    for (const append of batch)
      if (append.hasRunningTurn === false || append.releasesLease) this.release(append);
  }

  clear(): void {
    this.#epochs.clear();
  }
}
