/**
 * LangGraph checkpointer that uses Node's SQLite module. Completed steps survive a killed process.
 * `@langchain/langgraph-checkpoint-sqlite` is an alternative with a native module, which must be compiled or
 * downloaded.
 */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
} from "@langchain/langgraph";
import {
  type CheckpointListOptions,
  compareWritesSortKeys,
  type PendingWrite,
  WRITES_IDX_MAP,
  writesSortKey,
} from "@langchain/langgraph-checkpoint";

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS checkpoint (
    thread TEXT NOT NULL, ns TEXT NOT NULL, id TEXT NOT NULL, parent TEXT,
    json BLOB NOT NULL, metadata BLOB NOT NULL,
    PRIMARY KEY (thread, ns, id)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS pending_write (
    thread TEXT NOT NULL, ns TEXT NOT NULL, checkpoint TEXT NOT NULL, task TEXT NOT NULL, idx INTEGER NOT NULL,
    path TEXT NOT NULL, channel TEXT NOT NULL, json BLOB NOT NULL,
    PRIMARY KEY (thread, ns, checkpoint, task, idx)
  ) WITHOUT ROWID;
`;

type Row = Record<string, SQLOutputValue>;

export class SqliteCheckpoints extends BaseCheckpointSaver {
  readonly #db: DatabaseSync;

  constructor(file: string) {
    super();
    mkdirSync(dirname(file), { recursive: true });
    this.#db = new DatabaseSync(file);
    this.#db.exec(SCHEMA);
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread, ns, id } = parseConfig(config);
    const clause = id === undefined ? "ORDER BY id DESC LIMIT 1" : "AND id = ?";
    const row = this.#db
      .prepare(`SELECT * FROM checkpoint WHERE thread = ? AND ns = ? ${clause}`)
      .get(thread, ns, ...(id === undefined ? [] : [id]));
    return row && (await this.#toTuple(row));
  }

  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { thread, ns } = parseConfig(config);
    const before: unknown = options.before?.configurable?.["checkpoint_id"];
    const rows = this.#db
      .prepare("SELECT * FROM checkpoint WHERE thread = ? AND ns = ? ORDER BY id DESC")
      .all(thread, ns);
    let remaining = options.limit ?? Infinity;
    for (const row of rows) {
      if (remaining <= 0) return;
      if (typeof before === "string" && (row["id"] as string) >= before) continue;
      const tuple = await this.#toTuple(row);
      const metadata = tuple.metadata as Record<string, unknown> | undefined;
      const filter = Object.entries(options.filter ?? {});
      if (!filter.every(([key, value]) => metadata?.[key] === value)) continue;
      remaining--;
      yield tuple;
    }
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<RunnableConfig> {
    const { thread, ns, id: parent = null } = parseConfig(config);
    const [[, json], [, metadataJson]] = await Promise.all([
      this.serde.dumpsTyped(checkpoint),
      this.serde.dumpsTyped(metadata),
    ]);
    this.#db
      .prepare(
        "INSERT OR REPLACE INTO checkpoint (thread, ns, id, parent, json, metadata) VALUES (?, ?, ?, ?, ?, ?)",
      )
      .run(thread, ns, checkpoint.id, parent, json, metadataJson);
    return createConfig(thread, ns, checkpoint.id);
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], task: string, path = ""): Promise<void> {
    const { thread, ns, id } = parseConfig(config);
    if (id === undefined)
      throw new Error("The config contains no checkpoint id, which is required for writes.");
    for (const [index, [channel, value]] of writes.entries()) {
      const [, json] = await this.serde.dumpsTyped(value);
      const special = WRITES_IDX_MAP[channel];
      // Regular writes of a node are kept. Special writes, such as errors and interrupts, have a negative
      // index and are replaced by newer ones.
      const insert = special === undefined ? "INSERT OR IGNORE" : "INSERT OR REPLACE";
      this.#db
        .prepare(
          `${insert} INTO pending_write (thread, ns, checkpoint, task, idx, path, channel, json)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(thread, ns, id, task, special ?? index, path, channel, json);
    }
  }

  deleteThread(thread: string): Promise<void> {
    this.#db.prepare("DELETE FROM checkpoint WHERE thread = ?").run(thread);
    this.#db.prepare("DELETE FROM pending_write WHERE thread = ?").run(thread);
    return Promise.resolve();
  }

  async #toTuple(row: Row): Promise<CheckpointTuple> {
    const [thread, ns, id] = [row["thread"], row["ns"], row["id"]] as [string, string, string];
    const parent = row["parent"] as string | null;
    const load = (json: SQLOutputValue | undefined): Promise<unknown> =>
      this.serde.loadsTyped("json", json as Uint8Array);
    const writes = this.#db
      .prepare("SELECT * FROM pending_write WHERE thread = ? AND ns = ? AND checkpoint = ?")
      .all(thread, ns, id)
      .toSorted((a, b) => compareWritesSortKeys(getSortKey(a), getSortKey(b)));
    return {
      config: createConfig(thread, ns, id),
      checkpoint: (await load(row["json"])) as Checkpoint,
      metadata: (await load(row["metadata"])) as CheckpointMetadata,
      pendingWrites: await Promise.all(
        writes.map(async (write): Promise<[string, string, unknown]> => [
          write["task"] as string,
          write["channel"] as string,
          await load(write["json"]),
        ]),
      ),
      ...(parent === null ? {} : { parentConfig: createConfig(thread, ns, parent) }),
    };
  }
}

function getSortKey(write: Row): ReturnType<typeof writesSortKey> {
  return writesSortKey(write["path"] as string, write["task"] as string, write["idx"] as number);
}

function parseConfig({ configurable = {} }: RunnableConfig): {
  thread: string;
  ns: string;
  id: string | undefined;
} {
  const {
    thread_id: thread,
    checkpoint_ns: ns = "",
    checkpoint_id: id,
  } = configurable as Record<string, unknown>;
  if (typeof thread !== "string")
    throw new Error("The config contains no thread id, which is required for checkpoints.");
  return { thread, ns: String(ns), id: typeof id === "string" ? id : undefined };
}

function createConfig(thread: string, ns: string, id: string): RunnableConfig {
  return { configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id: id } };
}
