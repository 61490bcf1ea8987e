import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ClaimedTask, LogAppend, TaskLease, TaskScope } from "../../engine/index.ts";
import { getScopeKey } from "../task-owner-scope-key.ts";
import { decodeUnfinishedTaskRow, SELECT_UNFINISHED_SQL } from "./task-reader.ts";

/**
 * Leases on the tasks with a running turn. The file stores the running turns and the epochs. Only one process can
 * open the file, so the process keeps in memory which leases it holds. A process that opens the file holds none.
 */
export class TaskLeaseTable {
  /** Epochs of the leases that the process holds. */
  readonly #heldEpochs = new Map<string, number>();
  readonly #selectRunning: StatementSync;
  readonly #selectUnfinished: StatementSync;
  readonly #updateEpoch: StatementSync;

  constructor(db: DatabaseSync) {
    this.#selectRunning = db.prepare(
      `SELECT task.key AS key, task_id AS taskId, tenant, principal, agent
       FROM task JOIN scope ON scope.key = task.scope WHERE running = 1 AND agent = ?`,
    );
    this.#selectUnfinished = db.prepare(`${SELECT_UNFINISHED_SQL} WHERE task.key = ?`);
    this.#updateEpoch = db.prepare("UPDATE task SET epoch = epoch + 1 WHERE key = ? RETURNING epoch");
  }

  /** Acquires or gives up the lease of a task whose append has been committed. */
  trackCommittedAppend({ scope, taskId, epoch, hasRunningTurn }: LogAppend): void {
    if (hasRunningTurn === undefined) return;
    const key = toLeaseKey(scope, taskId);
    if (hasRunningTurn) this.#heldEpochs.set(key, epoch);
    else this.#heldEpochs.delete(key);
  }

  /** Returns the keys of up to `limit` tasks that the process can claim. */
  listClaimableKeys(agent: string, limit: number): number[] {
    const keys: number[] = [];
    for (const row of this.#selectRunning.iterate(agent)) {
      const { key, taskId, ...scope } = row as unknown as TaskScope & { key: number; taskId: string };
      if (!this.#heldEpochs.has(toLeaseKey(scope, taskId))) keys.push(key);
      if (keys.length === limit) break;
    }
    return keys;
  }

  /** Increments the epochs of the tasks within a transaction. Call `trackClaim` after the commit. */
  claimTasks(keys: readonly number[]): ClaimedTask[] {
    return keys.flatMap((key) => {
      const epoch = this.#updateEpoch.get(key)?.["epoch"] as number;
      const row = this.#selectUnfinished.get(key);
      return row ? [{ ...decodeUnfinishedTaskRow(row), epoch }] : [];
    });
  }

  trackClaim(claimed: readonly ClaimedTask[]): void {
    for (const { scope, taskId, epoch } of claimed) this.#heldEpochs.set(toLeaseKey(scope, taskId), epoch);
  }

  release({ scope, taskId, epoch }: TaskLease): void {
    const key = toLeaseKey(scope, taskId);
    if (this.#heldEpochs.get(key) === epoch) this.#heldEpochs.delete(key);
  }
}

function toLeaseKey(scope: TaskScope, taskId: string): string {
  return `${taskId} ${getScopeKey(scope)}`;
}
