import type { SqlDatabase, SqlStatement } from "./sql-database.ts";
import type { FinishedStep } from "../../engine/index.ts";

/** The finished steps of running turns. */
export class StepTable {
  readonly #upsert: SqlStatement;
  readonly #deleteAll: SqlStatement;
  readonly #select: SqlStatement;

  constructor(db: SqlDatabase) {
    this.#upsert = db.prepare(
      "INSERT OR REPLACE INTO finished_step (task, turn_seq, key, json) VALUES (?, ?, ?, ?)",
    );
    this.#deleteAll = db.prepare("DELETE FROM finished_step WHERE task = ?");
    this.#select = db.prepare(
      "SELECT turn_seq AS turnSeq, key, json FROM finished_step WHERE task = ? AND turn_seq = ? ORDER BY rowid",
    );
  }

  upsert(task: number, steps: readonly FinishedStep[]): void {
    for (const { turnSeq, key, json } of steps) this.#upsert.run(task, turnSeq, key, json);
  }

  deleteAll(task: number): void {
    this.#deleteAll.run(task);
  }

  list(task: number, turnSeq: number): FinishedStep[] {
    return this.#select.all(task, turnSeq) as unknown as FinishedStep[];
  }
}
