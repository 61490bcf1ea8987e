import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type {
  DurableObjectSqlCursor,
  DurableObjectSqlValue,
  DurableObjectStorage,
} from "./durable-object-storage.ts";

/** The storage of a Durable Object on a SQLite database in memory. Real objects run in `npm run lab -- runtimes`. */
export class TestDurableObjectStorage implements DurableObjectStorage {
  /** Time of the alarm in milliseconds since 1970. */
  alarmTime: number | null = null;
  readonly sql: DurableObjectStorage["sql"];
  readonly #db = new DatabaseSync(":memory:");

  constructor() {
    const readPragma = (name: string): number => Number(this.#db.prepare(`PRAGMA ${name}`).get()?.[name]);
    this.sql = {
      exec: (query, ...bindings) => this.#execute(query, bindings),
      get databaseSize() {
        return (readPragma("page_count") - readPragma("freelist_count")) * readPragma("page_size");
      },
    };
  }

  transactionSync<T>(work: () => T): T {
    this.#db.exec("BEGIN");
    try {
      const result = work();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  async sync(): Promise<void> {}

  async getAlarm(): Promise<number | null> {
    return this.alarmTime;
  }

  async setAlarm(time: number): Promise<void> {
    this.alarmTime = time;
  }

  async deleteAlarm(): Promise<void> {
    this.alarmTime = null;
  }

  #execute(query: string, bindings: readonly unknown[]): DurableObjectSqlCursor {
    if (bindings.length === 0 && query.includes(";")) {
      this.#db.exec(query);
      return toCursor([]);
    }
    // Cloudflare binds values by number, and node:sqlite binds named parameters by name.
    const names: string[] = [];
    const numbered = query.replaceAll(/[$:][A-Za-z]\w*/g, (name) => {
      if (!names.includes(name)) names.push(name);
      return `?${names.indexOf(name) + 1}`;
    });
    const rows = this.#db.prepare(numbered).all(...(bindings as SQLInputValue[]));
    return toCursor(rows as Record<string, DurableObjectSqlValue>[]);
  }
}

function toCursor(rows: Record<string, DurableObjectSqlValue>[]): DurableObjectSqlCursor {
  return { toArray: () => rows, [Symbol.iterator]: () => rows[Symbol.iterator]() };
}
