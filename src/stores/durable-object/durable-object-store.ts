import type {
  AppendRefusal,
  LogAppend,
  StoredTask,
  TurnStore,
  TaskListPage,
  TaskListQuery,
  TaskScope,
} from "../../engine/index.ts";
import type { PushStore } from "../../webhooks/index.ts";
import type { TaskDeletionStore } from "../task-deletion-store.ts";
import { A2AError, type LogEvent } from "../../protocol/index.ts";
import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { PushSecretCipher, type PushSecretKeysOption } from "../push-secret-cipher.ts";
import { HeldTaskLeases } from "../sqlite/held-task-leases.ts";
import { createSqlPushStore } from "../sqlite/push-table.ts";
import { createSqlTurnStore } from "../sqlite/sql-turn-store.ts";
import { createSqlDeletionStore } from "../sqlite/task-deletion.ts";
import { createSqlTaskOverview, listTasks } from "../sqlite/task-lists.ts";
import { findMessage, loadTask, readEvents } from "../sqlite/task-reader.ts";
import { createSqlTextIndex } from "../sqlite/task-text-index.ts";
import { writeAppend } from "../sqlite/task-writer.ts";
import {
  assertKnownSchemaVersion,
  createUnreleasedSchemaError,
  runSchemaSteps,
  SCHEMA_VERSION,
} from "../sqlite/schema-version.ts";
import { TaskTables, type SqlAccess } from "../sqlite/task-tables.ts";
import type { TaskTextIndexer } from "../task-text-indexer.ts";
import type {
  SqlDatabase,
  SqlParameters,
  SqlStatement,
  SqlStatements,
  SqlValue,
} from "../sqlite/sql-database.ts";
import type { DurableObjectSqlCursor, DurableObjectStorage } from "./durable-object-storage.ts";
import type { ServerStore, TaskOverview } from "../server-store.ts";

/** Options of `DurableObjectStore`. */
export interface DurableObjectStoreOptions {
  /**
   * Time in milliseconds after which an alarm starts the object again, if its process has died while turns or push
   * notifications were unfinished. Each alarm of a busy object costs one request and one written row. Default: 30,000.
   */
  readonly recoveryIntervalMs?: number;
  /**
   * Keys that encrypt the tokens and credentials of push configurations, each with 32 bytes in base64, or a function that
   * returns the keys. The first key encrypts, and all keys decrypt. Without keys, the server refuses push configurations
   * with a token or credentials. Default: none.
   */
  readonly pushSecretKeys?: PushSecretKeysOption;
}

const assertKnownOptions = defineOptionNames<DurableObjectStoreOptions>()(
  "DurableObjectStore",
  "pushSecretKeys recoveryIntervalMs",
);

const DEFAULT_RECOVERY_INTERVAL_MS = 30_000;

/**
 * Stores tasks in the SQLite database of a Durable Object, with the tables of `SqliteStore`. `commit` resolves when
 * Cloudflare has confirmed the write. Each commit sets the alarm of the object, so that the handler of the alarm can
 * continue the work of a process that has died. The object must have no other alarm.
 */
export class DurableObjectStore implements ServerStore {
  readonly name = "durable-object";
  readonly usesSnapshots = true;
  readonly isDurable = true;
  readonly alarm: RecoveryAlarm;
  readonly turns: TurnStore;
  readonly pushStore: PushStore;
  readonly overview: TaskOverview;
  readonly deletionStore: TaskDeletionStore;
  readonly #storage: DurableObjectStorage;
  readonly #options: DurableObjectStoreOptions;
  readonly #heldLeases = new HeldTaskLeases();
  #tables: TaskTables | undefined;
  readonly #textIndex: TaskTextIndexer;
  #runningSyncs = 0;

  constructor(storage: DurableObjectStorage, options: DurableObjectStoreOptions = {}) {
    assertKnownOptions(options);
    this.#storage = storage;
    this.#options = options;
    const { recoveryIntervalMs = DEFAULT_RECOVERY_INTERVAL_MS } = options;
    this.alarm = new RecoveryAlarm(storage, () => Date.now(), recoveryIntervalMs);
    const access: SqlAccess = {
      read: (query) => this.#read(query),
      write: (work) => this.#write(work),
      writePush: (work) => this.#write(work),
      isInDoubt: () => false,
    };
    this.turns = createSqlTurnStore(access, this.#heldLeases);
    this.pushStore = {
      ...createSqlPushStore(access),
      assertCanStoreSecrets: () => this.#requireOpen().cipher.assertCanEncrypt(),
    };
    this.#textIndex = createSqlTextIndex({
      write: access.write,
      transact: (work) => this.#transact(this.#requireOpen(), work),
    });
    this.overview = createSqlTaskOverview(access, this.#textIndex);
    const deletionStore = createSqlDeletionStore({ ...access, remove: access.write });
    this.deletionStore = {
      ...deletionStore,
      ...(deletionStore.sweepClock && {
        sweepClock: { ...deletionStore.sweepClock, countsStoppedTime: true },
      }),
      measureSize: async () => ({ usedBytes: storage.sql.databaseSize, freeBytes: 0 }),
      returnFreeSpace: async () => false,
      flushDeletions: () => storage.sync(),
    };
  }

  async open(): Promise<void> {
    if (this.#tables) return;
    const keySource = '"pushSecretKeys" of DurableObjectStore';
    const cipher = await PushSecretCipher.create(this.#options.pushSecretKeys, keySource);
    await this.alarm.load();
    const db = new DurableObjectDatabase(this.#storage.sql);
    this.#storage.transactionSync(() => migrateDurableObjectSchema(db));
    this.#tables = new TaskTables(db, { cipher, maxRowBytes: MAX_ROW_BYTES });
  }

  async close(): Promise<void> {
    await this.#textIndex.stop();
    this.#tables = undefined;
    this.#heldLeases.clear();
    await this.#storage.sync();
  }

  async commit(batch: readonly LogAppend[]): Promise<readonly (AppendRefusal | undefined)[]> {
    for (const { events } of batch) assertEventsFit(events);
    this.#heldLeases.holdBegunTurns(batch);
    const refusals = await this.#write((tables) => batch.map((append) => writeAppend(tables, append)));
    this.#heldLeases.releaseEndedTurns(batch.filter((_, at) => refusals[at] === undefined));
    this.#textIndex.schedule();
    return refusals;
  }

  load(scope: TaskScope, taskId: string): Promise<StoredTask | undefined> {
    return this.#read((tables) => loadTask(tables, scope, taskId));
  }

  readEvents(
    scope: TaskScope,
    taskId: string,
    after: number,
    limit: { readonly events: number; readonly maxBytes: number },
  ): Promise<LogEvent[]> {
    return this.#read((tables) => readEvents(tables, scope, taskId, after, limit));
  }

  list(scope: TaskScope, query: TaskListQuery): Promise<TaskListPage> {
    return this.#read((tables) => listTasks(tables, scope, query));
  }

  findMessage(scope: TaskScope, messageId: string): Promise<{ taskId: string; seq: number } | undefined> {
    return this.#read((tables) => findMessage(tables, scope, messageId));
  }

  /**
   * Sets the next alarm at the end of the handler of an alarm. `sweepTime` is the time of the next sweep in milliseconds
   * since 1970, which an object without tasks does not need.
   */
  setNextAlarm(sweepTime: number | undefined): void {
    const { sql } = this.#requireOpen();
    this.alarm.setAfterHandler(findNextDueTime(sql), hasTasks(sql) ? sweepTime : undefined);
  }

  /** Resolves with the result of a query once all data that the query has read is durable. */
  async #read<T>(query: (tables: TaskTables) => T): Promise<T> {
    const result = query(this.#requireOpen());
    if (this.#runningSyncs > 0) await this.#storage.sync();
    return result;
  }

  /** Runs a transaction, and resolves with its result once the transaction is durable. */
  async #write<T>(work: (tables: TaskTables) => T): Promise<T> {
    const tables = this.#requireOpen();
    // There is no `await` before the transaction, so that the alarm and the transaction become durable together.
    this.alarm.setBeforeCommit();
    const result = this.#transact(tables, work);
    this.#runningSyncs++;
    try {
      await this.#storage.sync();
    } finally {
      this.#runningSyncs--;
    }
    return result;
  }

  #transact<T>(tables: TaskTables, work: (tables: TaskTables) => T): T {
    try {
      return this.#storage.transactionSync(() => {
        const result = work(tables);
        tables.counts.writeChanges();
        return result;
      });
    } catch (error) {
      tables.discardChanges();
      throw error;
    }
  }

  #requireOpen(): TaskTables {
    if (this.#tables) return this.#tables;
    throw new A2AError("UNAVAILABLE", "The task store is closed; open it first.");
  }
}

/** Cloudflare refuses `PRAGMA user_version`, so the version has a table. */
const CREATE_VERSION_TABLE_SQL = `
  CREATE TABLE IF NOT EXISTS colloquy_schema_version (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL)`;

/** Creates or migrates the tables. Call the function within a transaction. */
function migrateDurableObjectSchema(db: SqlDatabase): void {
  const name = "The storage of this Durable Object";
  // Versions of Colloquy before the first release wrote their version to another table, or no time of a commit.
  const findUnreleased = `SELECT 1 FROM sqlite_master
    WHERE name = 'colloquy_schema' OR (type = 'table' AND name = 'log' AND sql NOT LIKE '%committed_at%')`;
  if (db.prepare(findUnreleased).get())
    throw createUnreleasedSchemaError(name, "call ctx.storage.deleteAll()");
  db.exec(CREATE_VERSION_TABLE_SQL);
  const row = db.prepare("SELECT version FROM colloquy_schema_version").get();
  const from = Number(row?.["version"] ?? 0);
  assertKnownSchemaVersion(from, name);
  if (from === SCHEMA_VERSION) return;
  runSchemaSteps(db, from);
  db.prepare("INSERT OR REPLACE INTO colloquy_schema_version (id, version) VALUES (1, ?)").run(
    SCHEMA_VERSION,
  );
}

/**
 * Maximum size of a row with several events, and of one event, in bytes of JSON. Cloudflare limits a row to 2 MB, and the
 * other columns of a row need some bytes.
 */
const MAX_ROW_BYTES = 1_900_000;

/** Throws `RESOURCE_EXHAUSTED` if an event is too large for a row. */
function assertEventsFit(events: readonly LogEvent[]): void {
  for (const { jsonText } of events) {
    // A character has at most three bytes.
    if (jsonText.length * 3 <= MAX_ROW_BYTES) continue;
    const bytes = Buffer.byteLength(jsonText);
    if (bytes <= MAX_ROW_BYTES) continue;
    throw new A2AError(
      "RESOURCE_EXHAUSTED",
      `An event has ${bytes} bytes of JSON, and a Durable Object stores at most ${MAX_ROW_BYTES} bytes per event; send several smaller chunks, or the URL of the file.`,
    );
  }
}

/**
 * Returns the earliest time, in milliseconds since 1970, at which a turn or a push notification needs the object although
 * no request arrives. The time 0 means now. Returns `undefined` without such work.
 */
function findNextDueTime(sql: SqlStatements): number | undefined {
  const isWaiting = sql.get(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM queued_turn) OR EXISTS (
       SELECT 1 FROM push JOIN task ON task.key = push.task WHERE push.owing = 1 AND push.delivered < task.seq
     )`,
  );
  if (isWaiting) return 0;
  const wake = sql.get<{ time: number | null }>(
    `SELECT min(coalesce(json_extract(turn.json, '$.wakeAt'), 0)) AS time
     FROM task LEFT JOIN turn ON turn.task = task.key WHERE running = 1`,
  );
  return wake?.time ?? undefined;
}

function hasTasks(sql: SqlStatements): boolean {
  return sql.get("SELECT 1 FROM task LIMIT 1") !== undefined;
}

/**
 * The alarm of a Durable Object, which starts the object again after its process has died. Cloudflare stores the alarm
 * together with the writes before the next `await`, so that no commit is without its alarm.
 */
class RecoveryAlarm {
  readonly #storage: DurableObjectStorage;
  readonly #now: () => number;
  readonly #intervalMs: number;
  /** Time of the stored alarm, in milliseconds since 1970. */
  #time: number | undefined;

  constructor(storage: DurableObjectStorage, now: () => number, intervalMs: number) {
    this.#storage = storage;
    this.#now = now;
    this.#intervalMs = intervalMs;
  }

  /** Reads the alarm that an earlier process has stored. */
  async load(): Promise<void> {
    this.#time = (await this.#storage.getAlarm()) ?? undefined;
  }

  /** Sets the alarm to one interval from now, unless it is earlier. Call the function before a write. */
  setBeforeCommit(): void {
    const latest = this.#now() + this.#intervalMs;
    if (this.#time === undefined || this.#time > latest) this.#set(latest);
  }

  /** Sets the alarm again at the beginning of its handler, because Cloudflare has removed the alarm that runs. */
  setForHandler(): void {
    this.#set(this.#now() + this.#intervalMs);
  }

  /**
   * Sets the alarm at the end of its handler. Work that is due at `dueTime` gets at least one interval, because the
   * handler has just tried. Without work and without `otherTime`, removes the alarm.
   */
  setAfterHandler(dueTime: number | undefined, otherTime: number | undefined): void {
    const next = Math.min(
      dueTime === undefined ? Infinity : Math.max(dueTime, this.#now() + this.#intervalMs),
      otherTime ?? Infinity,
    );
    if (next < Infinity) {
      this.#set(next);
      return;
    }
    this.#time = undefined;
    void this.#storage.deleteAlarm();
  }

  #set(time: number): void {
    this.#time = time;
    void this.#storage.setAlarm(time);
  }
}

/** Names of parameters. The statements of the store contain these prefixes nowhere else. */
const PARAMETER_NAME_PATTERN = /[$:][A-Za-z]\w*/g;

/** Number of rows that `iterate` holds in memory. A row of a log has at most 2 MB, and usually a few hundred bytes. */
const ROWS_PER_PAGE = 16;

/** The SQLite database of a Durable Object, with the functions of `node:sqlite` that the tables of tasks use. */
class DurableObjectDatabase implements SqlDatabase {
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
