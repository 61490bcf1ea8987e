import type { Client, ClientBase, Pool, PoolClient, PoolConfig, QueryConfig } from "pg";
import type { StoreGauges } from "../../engine/index.ts";
import type { PostgresStatement } from "./define-statement.ts";
import { decodeIdentifier, encodeIdentifier } from "./encode-identifier.ts";
import { importPg } from "./import-pg.ts";

/** Runs statements on a connection, or on any connection of a pool. */
export interface PostgresConnection {
  /** Resolves with the rows of the result. Encodes the texts of the parameters, and decodes those of the rows. */
  query<Parameters extends readonly unknown[], Row>(
    statement: PostgresStatement<Parameters, Row>,
    parameters: Parameters,
  ): Promise<Row[]>;
}

/** A connection with an open transaction. */
export interface PostgresTransaction extends PostgresConnection {
  /** Runs a script of statements without parameters. */
  runScript(sql: string): Promise<void>;
}

/** Interval in milliseconds at which the pool looks for silence of the database, while statements wait for results. */
const WATCH_INTERVAL_MS = 250;
/** Time in milliseconds without any result after which the pool probes the database over a new connection. */
const SILENCE_MS = 1000;
/** Maximum time in milliseconds of a probe. */
const PROBE_TIMEOUT_MS = 2000;

export interface PostgresPoolOptions {
  /** URL of the database, such as `postgres://user:password@host:5432/database`. */
  readonly url: string;
  /** Maximum number of connections. */
  readonly size: number;
  /** Maximum time in milliseconds until a connection is available. */
  readonly connectTimeoutMs: number;
  /** Maximum time in milliseconds of a statement. */
  readonly queryTimeoutMs: number;
  /** Whether the connections prepare each statement once, under its name. */
  readonly preparedStatements: boolean;
  /** Called if the database does not answer, long before the statements time out. */
  readonly onUnreachable?: (error: Error) => void;
}

/**
 * A pool of connections to one database. Errors are those of `pg`.
 *
 * A connection whose other end has vanished without a word, for example after a failover or behind a firewall that has
 * lost its state, would hold its statement until the timeout. While no statement gets a result, the pool therefore
 * probes the database over a new connection. If the database does not answer, or does not run the statements of the
 * pool, the pool replaces all connections, and their statements reject.
 */
export class PostgresPool implements PostgresConnection {
  readonly #pg: typeof import("pg");
  readonly #options: PostgresPoolOptions;
  #pool: Pool;
  #clients = new Set<ClientBase>();
  #pendingCount = 0;
  /** Monotonic time in milliseconds of the last result, or of the first statement after a time without statements. */
  #lastResultAt = 0;
  #watchTimer: NodeJS.Timeout | undefined;
  #isProbing = false;
  /** Time of the last result before an earlier probe that found none of the pending statements in the database. */
  #missedSince: number | undefined;

  private constructor(pg: typeof import("pg"), options: PostgresPoolOptions) {
    this.#pg = pg;
    this.#options = options;
    this.#pool = this.#createPool();
  }

  /** Creates a pool without a connection. Rejects if the package `pg` is not installed. */
  static async create(options: PostgresPoolOptions): Promise<PostgresPool> {
    return new PostgresPool(await importPg(), options);
  }

  #createPool(): Pool {
    const { Pool: PgPool, types } = this.#pg;
    const { url, size, connectTimeoutMs, queryTimeoutMs, preparedStatements } = this.#options;
    const config: PoolConfig = {
      connectionString: url,
      max: size,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: queryTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 2000,
      application_name: "colloquy",
      // Settings of a session would reach other clients of a pooler in transaction mode.
      // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for the promise
      ...(preparedStatements ? { onConnect: fixPlans } : {}),
      // By default, `pg` returns a bigint as text.
      types: {
        getTypeParser: (oid, format) => {
          if (oid === types.builtins.TEXT) return decodeIdentifier;
          return oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format);
        },
      },
    };
    const pool = new PgPool(config);
    const clients = new Set<ClientBase>();
    this.#clients = clients;
    pool.on("connect", (client) => {
      clients.add(client);
      // The pool listens only while a connection is idle. An error during a transaction rejects its statement.
      client.on("error", () => {});
    });
    pool.on("remove", (client) => clients.delete(client));
    // The pool replaces an idle connection that fails. The next statement reports a database that is down.
    pool.on("error", () => {});
    return pool;
  }

  query<Parameters extends readonly unknown[], Row>(
    statement: PostgresStatement<Parameters, Row>,
    parameters: Parameters,
  ): Promise<Row[]> {
    return this.#watch(
      async () => (await this.#pool.query(this.#toQuery(statement, parameters))).rows as Row[],
    );
  }

  /** Runs `work` in one transaction on one connection. An error rolls the transaction back. */
  runTransaction<T>(work: (transaction: PostgresTransaction) => Promise<T>): Promise<T> {
    return this.#watch(() => this.#runTransaction(work));
  }

  async #runTransaction<T>(work: (transaction: PostgresTransaction) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let isUsable = true;
    try {
      await client.query("BEGIN");
      const result = await work({
        query: async (statement, parameters) =>
          this.#noteResult((await client.query(this.#toQuery(statement, parameters))).rows as never),
        runScript: async (sql) => void this.#noteResult(await client.query(sql)),
      });
      await client.query("COMMIT");
      return result;
    } catch (error) {
      isUsable = await rollBack(client, error);
      throw error;
    } finally {
      client.release(!isUsable);
    }
  }

  readGauges(): StoreGauges["pool"] {
    const { totalCount: open, idleCount, waitingCount: waiting } = this.#pool;
    return { max: this.#pool.options.max, open, busy: open - idleCount, waiting };
  }

  async close(): Promise<void> {
    clearInterval(this.#watchTimer);
    await this.#pool.end();
  }

  /** Runs statements, and looks for silence of the database meanwhile. */
  async #watch<T>(run: () => Promise<T>): Promise<T> {
    if (this.#pendingCount++ === 0) this.#lastResultAt = performance.now();
    this.#watchTimer ??= setInterval(() => this.#lookForSilence(), WATCH_INTERVAL_MS).unref();
    try {
      return this.#noteResult(await run());
    } catch (error) {
      if (isServerError(error)) this.#noteResult(undefined);
      throw error;
    } finally {
      this.#pendingCount--;
    }
  }

  #noteResult<T>(result: T): T {
    this.#lastResultAt = performance.now();
    return result;
  }

  #lookForSilence(): void {
    if (this.#pendingCount === 0) {
      clearInterval(this.#watchTimer);
      this.#watchTimer = undefined;
    } else if (!this.#isProbing && performance.now() - this.#lastResultAt > SILENCE_MS) {
      this.#isProbing = true;
      void this.#probe().finally(() => {
        this.#isProbing = false;
      });
    }
  }

  async #probe(): Promise<void> {
    const lastResultAt = this.#lastResultAt;
    const clients = this.#clients;
    // A database that refuses the probe, for example because it has too many connections, is alive.
    const runsStatements = await this.#askWhetherStatementsRun().catch(
      (error: unknown) => isServerError(error) || toError(error),
    );
    // A result has arrived meanwhile, or the connections are new.
    if (lastResultAt !== this.#lastResultAt || clients !== this.#clients) return;
    if (runsStatements instanceof Error) {
      this.#replaceConnections();
      this.#options.onUnreachable?.(runsStatements);
    } else if (runsStatements) this.#missedSince = undefined;
    // The result of a statement that has just ended can be on its way.
    else if (this.#missedSince === lastResultAt) this.#replaceConnections();
    else this.#missedSince = lastResultAt;
  }

  /**
   * Asks the database over a new connection whether it runs a statement of the pool. Rejects if the database does not
   * answer. Behind a pooler, the processes of the connections are unknown.
   */
  async #askWhetherStatementsRun(): Promise<boolean> {
    const client = new this.#pg.Client({
      connectionString: this.#options.url,
      connectionTimeoutMillis: PROBE_TIMEOUT_MS,
      query_timeout: PROBE_TIMEOUT_MS,
      application_name: "colloquy probe",
    });
    client.on("error", () => {});
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error("connection timeout of a probe")), PROBE_TIMEOUT_MS).unref();
    });
    try {
      return await Promise.race([deadline, this.#findRunningStatement(client)]);
    } finally {
      clearTimeout(timer);
      client.end().catch(() => {});
    }
  }

  async #findRunningStatement(client: Client): Promise<boolean> {
    const processes = [...this.#clients].map((each) => (each as { processID?: number }).processID ?? 0);
    await client.connect();
    const { rows } = await client.query<{ pid: number; is_running: boolean }>(
      `SELECT pg_backend_pid() AS pid, EXISTS (
         SELECT 1 FROM pg_stat_activity WHERE pid = ANY($1::int[]) AND state = 'active'
       ) AS is_running`,
      [processes],
    );
    const [row] = rows;
    const isPooled = row?.pid !== (client as { processID?: number }).processID;
    return isPooled || row?.is_running === true;
  }

  /** Replaces all connections. Their statements reject. */
  #replaceConnections(): void {
    const [pool, clients] = [this.#pool, this.#clients];
    this.#missedSince = undefined;
    this.#pool = this.#createPool();
    pool.end().catch(() => {});
    // `Client.end` destroys a connection whose statement has no result yet.
    for (const client of clients) (client as Client).end().catch(() => {});
  }

  #toQuery(
    { name, text }: Pick<PostgresStatement<[], unknown>, "name" | "text">,
    parameters: readonly unknown[],
  ): QueryConfig {
    const query = { text, values: parameters.map(encodeParameter) };
    return this.#options.preparedStatements ? { name, ...query } : query;
  }
}

/**
 * Makes the plans of a connection independent of statistics, which are wrong while the tables of a new database grow.
 * Every statement has an index. PostgreSQL would otherwise plan a page of tasks again for each request, which takes
 * longer than the page. Databases that do not know a setting ignore it.
 */
async function fixPlans(client: ClientBase): Promise<void> {
  for (const setting of ["plan_cache_mode = force_generic_plan", "enable_seqscan = off", "jit = off"])
    await client.query(`SET ${setting}`).catch((error: unknown) => {
      if (!isServerError(error)) throw error;
    });
}

/** Encodes ids. JSON and other texts contain no character that needs an encoding. */
function encodeParameter(parameter: unknown): unknown {
  if (typeof parameter === "string") return encodeIdentifier(parameter);
  return Array.isArray(parameter) ? parameter.map(encodeParameter) : parameter;
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Returns true for an error from the server. After another error, the state of the connection is unknown. */
function isServerError(error: unknown): boolean {
  return error instanceof Error && "severity" in error;
}

/** Resolves with true if the connection can be used again. After a lost connection or a timeout, it cannot. */
async function rollBack(client: PoolClient, error: unknown): Promise<boolean> {
  if (!isServerError(error)) return false;
  try {
    await client.query("ROLLBACK");
    return true;
  } catch {
    return false;
  }
}
