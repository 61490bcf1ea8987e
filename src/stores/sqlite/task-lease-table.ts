import type { SqlDatabase, SqlStatement } from "./sql-database.ts";
import type { ClaimedTask, TaskScope } from "../../engine/index.ts";
import type { HeldTaskLeases } from "./held-task-leases.ts";
import { decodeUnfinishedTaskRow, SELECT_UNFINISHED_SQL } from "./task-reader.ts";

/** Claims tasks with a running turn. The file stores the running turns and the epochs. */
export class TaskLeaseTable {
  readonly #heldLeases: HeldTaskLeases;
  readonly #selectRunning: SqlStatement;
  readonly #selectUnfinished: SqlStatement;
  readonly #incrementEpoch: SqlStatement;

  constructor(db: SqlDatabase, heldLeases: HeldTaskLeases) {
    this.#heldLeases = heldLeases;
    this.#selectRunning = db.prepare(
      `SELECT task.key AS key, task_id AS taskId, tenant, principal, agent
       FROM task JOIN scope ON scope.key = task.scope WHERE running = 1 AND agent = ?`,
    );
    this.#selectUnfinished = db.prepare(`${SELECT_UNFINISHED_SQL} WHERE task.key = ?`);
    this.#incrementEpoch = db.prepare("UPDATE task SET epoch = epoch + 1 WHERE key = ? RETURNING epoch");
  }

  /** Returns the keys of up to `limit` tasks whose lease the process does not hold. */
  listClaimableKeys(agent: string, limit: number): number[] {
    const keys: number[] = [];
    for (const row of this.#selectRunning.iterate(agent)) {
      const { key, taskId, ...scope } = row as unknown as TaskScope & { key: number; taskId: string };
      if (!this.#heldLeases.has(scope, taskId)) keys.push(key);
      if (keys.length === limit) break;
    }
    return keys;
  }

  /** Increments the epochs of the tasks. Call `claimTasks` only within a transaction. */
  claimTasks(keys: readonly number[]): ClaimedTask[] {
    return keys.flatMap((key) => {
      const epoch = this.#incrementEpoch.get(key)?.["epoch"] as number;
      const row = this.#selectUnfinished.get(key);
      return row ? [{ ...decodeUnfinishedTaskRow(row), epoch }] : [];
    });
  }
}
