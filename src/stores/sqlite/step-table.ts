import type { SqlDatabase, SqlStatement } from "./sql-database.ts";
import type { FinishedStep } from "../../engine/index.ts";

interface StepRow {
  readonly keyBytes: Uint8Array;
  readonly json: string;
}

/** Decodes keys. `ignoreBOM` keeps a byte order mark, which is part of the key. */
const KEY_DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

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
    // Deno and Node.js 22.13 end a text that they read at its first null character.
    this.#select = db.prepare(
      "SELECT CAST(key AS BLOB) AS keyBytes, json FROM finished_step WHERE task = ? AND turn_seq = ? ORDER BY rowid",
    );
  }

  upsert(task: number, steps: readonly FinishedStep[]): void {
    for (const { turnSeq, key, json } of steps) this.#upsert.run(task, turnSeq, key, json);
  }

  deleteAll(task: number): void {
    this.#deleteAll.run(task);
  }

  list(task: number, turnSeq: number): FinishedStep[] {
    const rows = this.#select.all(task, turnSeq) as unknown as StepRow[];
    return rows.map(({ keyBytes, json }) => ({ turnSeq, key: KEY_DECODER.decode(keyBytes), json }));
  }
}
