import type {
  AppendRefusal,
  LogAppend,
  StoredTask,
  StoreGauges,
  StoreHealth,
  StoreMigrationListener,
  TurnStore,
  TaskListPage,
  TaskListQuery,
  TaskScope,
  SessionRepository,
} from "../../engine/index.ts";
import type { NodeStore } from "../../cluster/index.ts";
import type { PushStore } from "../../webhooks/index.ts";
import type { TaskDeletionStore } from "../task-deletion-store.ts";
import { A2AError, type LogEvent } from "../../protocol/index.ts";
import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { PushSecretCipher, type PushSecretKeysOption } from "../push-secret-cipher.ts";
import { CommitMeter } from "../commit-meter.ts";
import { StoreHealthMonitor } from "../store-health-monitor.ts";
import { commitAppends } from "./commit-appends.ts";
import { DEFAULT_POSTGRES_OPTIONS, type PostgresStoreOptions } from "./postgres-store-options.ts";
import { defineStatement, type PostgresStatement } from "./define-statement.ts";
import { formatPostgresStoreName } from "./format-postgres-store-name.ts";
import { migratePostgresSchema } from "./migrate-postgres-schema.ts";
import {
  findPostgresStateAfterError,
  isOutcomeUnknown,
  isTemporaryStatementError,
  toPostgresUnavailableError,
} from "./postgres-error-conversion.ts";
import { PostgresHints } from "./postgres-hints.ts";
import { PostgresNodes } from "./postgres-nodes.ts";
import { PostgresPool, type PostgresConnection } from "./postgres-pool.ts";
import { PostgresPushStore } from "./postgres-push-store.ts";
import { PostgresSessionRepository } from "./postgres-session-repository.ts";
import { PostgresTaskDeleter } from "./postgres-task-deleter.ts";
import { PostgresTaskLeases } from "./postgres-task-leases.ts";
import { PostgresTaskReader, END_OF_TIMES } from "./postgres-task-reader.ts";
import { PostgresTextIndex, renderWordQuery } from "./postgres-text-index.ts";
import type { ServerStore, TaskOverview, TaskOverviewEntry, TaskOverviewQuery } from "../server-store.ts";
import process from "node:process";
import { STORED_TASK_STATES } from "../stored-task-states.ts";
import { toScope } from "../task-owner-scope-key.ts";
import { parseTextQuery } from "../task-words.ts";
import { computeScopeKey } from "./scope-key.ts";
import * as statements from "./statements/overview.ts";

const assertKnownOptions = defineOptionNames<PostgresStoreOptions>()(
  "PostgresStore",
  "poolSize connectTimeoutMs queryTimeoutMs preparedStatements leaseMs pushSecretKeys migrate hints",
);

/** Inserts 128 KiB into the logs, and rolls them back. Rejects if the disk is full. */
const PROBE_DISK = defineStatement<[]>(
  "probe_disk",
  `DO $$ BEGIN
     INSERT INTO colloquy.log (task, seq, lines, has_only_artifacts, committed_at)
       SELECT -1, n, repeat(md5(n::text), 32), false, 0 FROM generate_series(1, 128) AS n;
     RAISE EXCEPTION USING ERRCODE = 'CQ001';
   EXCEPTION WHEN SQLSTATE 'CQ001' THEN NULL;
   END $$`,
);

/** The pool of an open store, and the cipher for the secrets of webhooks. */
interface OpenedPostgres {
  readonly pool: PostgresPool;
  readonly cipher: PushSecretCipher;
}

/**
 * Stores tasks in the PostgreSQL database at `url`, in the schema `colloquy`. Requires PostgreSQL 14 or newer and the
 * package `pg`. Data that `commit` has acknowledged is as durable as a commit of the database. While the database is
 * down, the methods reject with `UNAVAILABLE`, and the store recovers without a restart. `open` creates or migrates the
 * tables, and rejects a schema of a newer version of Colloquy.
 */
export class PostgresStore implements ServerStore {
  readonly name: string;
  readonly usesSnapshots = true;
  readonly isDurable = true;
  readonly turns: TurnStore;
  readonly nodes: NodeStore;
  readonly pushStore: PushStore;
  readonly deletionStore: TaskDeletionStore;
  readonly overview: TaskOverview;
  readonly sessionRepository: SessionRepository;
  readonly readGauges = (): StoreGauges => ({
    store: this.name,
    pool: this.#opened?.pool.readGauges() ?? { max: this.#options.poolSize, open: 0, busy: 0, waiting: 0 },
    leases: this.#leases.readGauges(),
    commits: this.#commitMeter.read(),
  });
  readonly #url: string;
  readonly #options: typeof DEFAULT_POSTGRES_OPTIONS & PostgresStoreOptions;
  readonly #health: StoreHealthMonitor;
  readonly #connection: PostgresConnection = {
    query: (statement, parameters) => this.#query(statement, parameters),
  };
  readonly #leases: PostgresTaskLeases;
  readonly #reader: PostgresTaskReader;
  readonly #commitMeter = new CommitMeter();
  readonly #hints: PostgresHints | undefined;
  readonly #textIndex: PostgresTextIndex;
  #opened: OpenedPostgres | undefined;

  constructor(url: string, options: PostgresStoreOptions = {}) {
    assertKnownOptions(options);
    this.name = formatPostgresStoreName(url);
    this.#url = url;
    this.#options = { ...DEFAULT_POSTGRES_OPTIONS, ...options };
    this.#leases = new PostgresTaskLeases(this.#connection, this.#options.leaseMs);
    const context = { getNode: () => this.#leases.node, getCipher: () => this.#requireOpen().cipher };
    this.#reader = new PostgresTaskReader(this.#connection, context);
    this.turns = this.#leases;
    if (this.#options.hints) {
      const onOtherNode = (): void => this.#leases.reportOtherNode();
      this.#hints = new PostgresHints({
        url,
        ...this.#options,
        connection: this.#connection,
        onOtherNode,
      });
    }
    this.nodes = new PostgresNodes(this.#connection, this.#leases, {
      getCipher: context.getCipher,
      hints: this.#hints,
    });
    this.pushStore = new PostgresPushStore(this.#connection, context);
    this.deletionStore = new PostgresTaskDeleter(this.#connection, this.#reader);
    this.#textIndex = new PostgresTextIndex(this.#connection, {
      getNode: context.getNode,
      load: (scope, taskId) => this.load(scope, taskId),
    });
    this.overview = createPostgresTaskOverview(this.#connection, this.#textIndex);
    this.sessionRepository = new PostgresSessionRepository(this.#connection);
    this.#health = new StoreHealthMonitor(this.name, () => this.#recover());
  }

  get health(): StoreHealth {
    return this.#health;
  }

  async open(onMigration?: StoreMigrationListener): Promise<void> {
    if (this.#opened) return;
    const { poolSize, migrate, pushSecretKeys, ...options } = this.#options;
    const cipher = await createPostgresPushCipher(pushSecretKeys);
    const onUnreachable = (error: Error): void => void this.#reportFailure(error, "failing");
    const pool = await PostgresPool.create({ url: this.#url, size: poolSize, onUnreachable, ...options });
    try {
      await migratePostgresSchema(pool, { store: this.name, migrate, onMigration });
      this.#opened = { pool, cipher };
      await this.#leases.extend();
      this.#hints?.open();
    } catch (error) {
      this.#opened = undefined;
      this.#health.reset();
      await pool.close();
      throw toPostgresUnavailableError(error);
    }
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    if (!opened) return;
    await this.#textIndex.stop();
    // A node whose row remains loses its leases when they expire.
    await this.#leases.end().catch(() => {});
    await this.#hints?.close();
    this.#opened = undefined;
    this.#health.reset();
    await opened.pool.close();
  }

  async commit(batch: readonly LogAppend[]): Promise<readonly (AppendRefusal | undefined)[]> {
    const { pool, cipher } = this.#requireOpen();
    try {
      const writer = { node: this.#leases.node, cipher, queuesText: this.#textIndex.isStarted };
      const refusals = await this.#leases.recordCommit(batch, () =>
        this.#commitMeter.measure(batch, () => commitAppends(pool, writer, batch)),
      );
      this.#health.reportSuccess();
      this.#textIndex.schedule();
      return refusals;
    } catch (error) {
      throw this.#reportFailure(error, isOutcomeUnknown(error) ? "failed" : undefined);
    }
  }

  load(scope: TaskScope, taskId: string): Promise<StoredTask | undefined> {
    return this.#reader.load(scope, taskId);
  }

  readEvents(
    scope: TaskScope,
    taskId: string,
    after: number,
    limit: { readonly events: number; readonly maxBytes: number },
  ): Promise<LogEvent[]> {
    return this.#reader.readEvents(scope, taskId, after, limit);
  }

  list(scope: TaskScope, query: TaskListQuery): Promise<TaskListPage> {
    return this.#reader.list(scope, query);
  }

  findMessage(scope: TaskScope, messageId: string): Promise<{ taskId: string; seq: number } | undefined> {
    return this.#reader.findMessage(scope, messageId);
  }

  async #query<Parameters extends readonly unknown[], Row>(
    statement: PostgresStatement<Parameters, Row>,
    parameters: Parameters,
  ): Promise<Row[]> {
    const { pool } = this.#requireOpen();
    try {
      return await pool.query(statement, parameters);
    } catch (error) {
      throw this.#reportFailure(error);
    }
  }

  /**
   * Extends the leases. After a full disk, also writes a part of a log and rolls it back, because the update of an
   * existing row succeeds on a full disk.
   */
  async #recover(): Promise<void> {
    await this.#leases.extend();
    if (this.#health.state === "full") await this.#query(PROBE_DISK, []);
  }

  /** Reports an error that concerns the database, and returns the error for the caller. */
  #reportFailure(error: unknown, state = findPostgresStateAfterError(error)): unknown {
    if (state === undefined)
      return isTemporaryStatementError(error) ? toPostgresUnavailableError(error) : error;
    const failure = toPostgresUnavailableError(error);
    if (this.#opened) this.#health.reportFailure(state, failure);
    return failure;
  }

  #requireOpen(): OpenedPostgres {
    if (this.#opened) return this.#opened;
    throw new A2AError("UNAVAILABLE", "The task store is closed; open it first.");
  }
}

/** Environment variable with the keys of the option `pushSecretKeys`, separated by commas. */
const KEYS_VARIABLE = "COLLOQUY_PUSH_SECRET_KEYS";

/**
 * Creates the cipher for the secrets of push configurations. Without keys, the cipher refuses to encrypt: the
 * database must not contain the key of the secrets that it stores, and the other servers would not know a random key.
 */
async function createPostgresPushCipher(option: PushSecretKeysOption | undefined): Promise<PushSecretCipher> {
  const keySource = `"pushSecretKeys" of PostgresStore or ${KEYS_VARIABLE}`;
  const variable = process.env[KEYS_VARIABLE]?.trim();
  const keys = variable ? variable.split(",").map((key) => key.trim()) : undefined;
  return await PushSecretCipher.create(option ?? keys, keySource);
}

/**
 * Indexes for lists of the tasks of all callers, one for each filter that selects few of many tasks. Only servers with
 * operators create them, without blocking commits.
 */
const OVERVIEW_INDEXES = {
  task_overview: "state, status_time, task_id",
  task_overview_of_agent: "agent, state, status_time, task_id",
  task_overview_of_context: "context_id, state, status_time, task_id",
};

const CREATE_OVERVIEW_INDEXES: readonly PostgresStatement<readonly [], never>[] = Object.entries(
  OVERVIEW_INDEXES,
).map(([name, columns]) =>
  defineStatement(
    `colloquy_create_${name}`,
    `CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ON colloquy.task (${columns})`,
  ),
);

/** Creates the overview of a PostgreSQL store. */
function createPostgresTaskOverview(
  connection: PostgresConnection,
  textIndex: PostgresTextIndex,
): TaskOverview {
  return {
    textIndex,
    prepareForAllCallers: async () => {
      for (const statement of CREATE_OVERVIEW_INDEXES) await connection.query(statement, []);
    },
    list: async (query) => {
      const rows = await selectOverviewRows(connection, query);
      const tasks = rows.slice(0, query.limit).map(toOverviewEntry);
      return { tasks, hasMore: rows.length > query.limit };
    },
    findScope: async (agent, taskId) => {
      const [row] = await connection.query(statements.FIND_TASK_SCOPE, [taskId, agent]);
      return row && toScope(row);
    },
  };
}

async function selectOverviewRows(
  connection: PostgresConnection,
  query: TaskOverviewQuery,
): Promise<statements.OverviewRow[]> {
  const { scopes, agent, contextId, status, statusSince = "", statusUntil, after, limit, text } = query;
  // The first position after all tasks with the latest status time.
  const end = statusUntil === undefined ? END_OF_TIMES : statusUntil + END_OF_TIMES;
  const position =
    after && after.timestamp < end ? ([after.timestamp, after.taskId] as const) : ([end, ""] as const);
  const parameters: statements.ListOverviewParameters = [
    status === undefined ? STORED_TASK_STATES : [status],
    statusSince,
    ...position,
    limit + 1,
    scopes?.map(computeScopeKey) ?? null,
    scopes ? null : (agent ?? null),
    contextId ?? null,
  ];
  if (text === undefined) return connection.query(chooseListStatement(query), parameters);
  const textQuery = parseTextQuery(text);
  // A text without words matches no task.
  if (!textQuery) return [];
  return connection.query(statements.LIST_OVERVIEW_OF_TEXT, [...parameters, renderWordQuery(textQuery)]);
}

/** Returns the statement whose index has the conditions of a query without a text in its first columns. */
export function chooseListStatement({
  scopes,
  agent,
  contextId,
}: Omit<TaskOverviewQuery, "limit">): PostgresStatement<
  statements.ListOverviewParameters,
  statements.OverviewRow
> {
  if (scopes)
    return contextId === undefined
      ? statements.LIST_OVERVIEW_OF_SCOPES
      : statements.LIST_OVERVIEW_OF_SCOPES_AND_CONTEXT;
  if (contextId !== undefined) return statements.LIST_OVERVIEW_OF_CONTEXT;
  return agent === undefined ? statements.LIST_OVERVIEW : statements.LIST_OVERVIEW_OF_AGENT;
}

function toOverviewEntry(row: statements.OverviewRow): TaskOverviewEntry {
  const { taskId, contextId, state, timestamp, seq } = row;
  return { scope: toScope(row), taskId, contextId, state, timestamp, seq };
}
