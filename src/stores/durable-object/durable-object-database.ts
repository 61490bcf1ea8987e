import type { SqlDatabase, SqlParameters, SqlStatement, SqlValue } from "../sqlite/sql-database.ts";
import type { DurableObjectSqlCursor, DurableObjectStorage } from "./durable-object-storage.ts";

/** Names of parameters. The statements of the store contain these prefixes nowhere else. */
const PARAMETER_NAME_PATTERN = /[$:][A-Za-z]\w*/g;

/** Number of rows that `iterate` holds in memory. A row of a log has at most 2 MB, and usually a few hundred bytes. */
const ROWS_PER_PAGE = 16;

/** The SQLite database of a Durable Object, with the functions of `node:sqlite` that the tables of tasks use. */
export class DurableObjectDatabase implements SqlDatabase {
  /** Cloudflare sets `SQLITE_LIMIT_COMPOUND_SELECT` to 5. */
  readonly maxUnionTerms = 5;
  readonly #sql: DurableObjectStorage["sql"];

  constructor(sql: DurableObjectStorage["sql"]) {
    this.#sql = sql;
  }

  /** Cloudflare caches the compiled statements by their text. */
  prepare(text: string): SqlStatement {
    const names = [...new Set(text.match(PARAMETER_NAME_PATTERN))];
    const execute = (parameters: SqlParameters): DurableObjectSqlCursor =>
      this.#sql.exec(text, ...toBindings(parameters, names));
    const readNumber = (expression: string): number =>
      Number(this.#sql.exec(`SELECT ${expression} AS value`).toArray()[0]?.["value"]);
    return {
      get: (...parameters) => toRows(execute(parameters))[0],
      all: (...parameters) => toRows(execute(parameters)),
      iterate: (...parameters) => this.#iteratePages(text, toBindings(parameters, names)),
      run: (...parameters) => {
        execute(parameters);
        // `rowsWritten` of the cursor also counts the rows of indexes.
        return {
          get changes() {
            return readNumber("changes()");
          },
          get lastInsertRowid() {
            return readNumber("last_insert_rowid()");
          },
        };
      },
    };
  }

  /**
   * Reads the rows in pages. A cursor whose iteration ends early would keep its read transaction, because Cloudflare
   * offers no function that closes a cursor.
   */
  *#iteratePages(text: string, bindings: readonly unknown[]): Generator<Record<string, SqlValue>> {
    for (let offset = 0; ; offset += ROWS_PER_PAGE) {
      const sql = `${text} LIMIT ${ROWS_PER_PAGE} OFFSET ?`;
      const rows = toRows(this.#sql.exec(sql, ...bindings, offset));
      yield* rows;
      if (rows.length < ROWS_PER_PAGE) return;
    }
  }

  exec(sql: string): void {
    this.#sql.exec(sql);
  }
}

/** SQLite numbers named parameters in the order of their first occurrence, and Cloudflare binds values by number. */
function toBindings(parameters: SqlParameters, names: readonly string[]): unknown[] {
  const [named] = parameters;
  if (typeof named !== "object" || named === null || ArrayBuffer.isView(named)) return [...parameters];
  return names.map((name) => named[name] ?? named[name.slice(1)] ?? null);
}

function toRows(cursor: DurableObjectSqlCursor): Record<string, SqlValue>[] {
  return cursor.toArray() as Record<string, SqlValue>[];
}
