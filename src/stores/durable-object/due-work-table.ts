import type { SqlDatabase, SqlStatement } from "../sqlite/sql-database.ts";

/** Finds work that an object must do although no request arrives. */
export class DueWorkTable {
  readonly #selectFirstWakeTime: SqlStatement;
  readonly #selectWaiting: SqlStatement;
  readonly #selectAnyTask: SqlStatement;

  constructor(db: SqlDatabase) {
    this.#selectFirstWakeTime = db.prepare(
      `SELECT min(coalesce(json_extract(turn.json, '$.wakeAt'), 0)) AS time
       FROM task LEFT JOIN turn ON turn.task = task.key WHERE running = 1`,
    );
    this.#selectWaiting = db.prepare(
      `SELECT EXISTS (SELECT 1 FROM queued_turn) OR EXISTS (
         SELECT 1 FROM push JOIN task ON task.key = push.task WHERE push.owing = 1 AND push.delivered < task.seq
       ) AS isWaiting`,
    );
    this.#selectAnyTask = db.prepare("SELECT EXISTS (SELECT 1 FROM task) AS hasTask");
  }

  /**
   * Returns the earliest time, in milliseconds since 1970, at which a turn or a push notification needs the object. The
   * time 0 means now. Returns `undefined` without such work.
   */
  findNextDueTime(): number | undefined {
    if (this.#selectWaiting.get()?.["isWaiting"] === 1) return 0;
    const time = this.#selectFirstWakeTime.get()?.["time"];
    return typeof time === "number" ? time : undefined;
  }

  hasTasks(): boolean {
    return this.#selectAnyTask.get()?.["hasTask"] === 1;
  }
}
