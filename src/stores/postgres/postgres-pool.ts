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

interface PostgresPoolOptions {
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

/** A statement that waits for its result. */
interface PendingStatement {
  readonly client: ClientBase;
  readonly startedAt: number;
  /** Monotonic time in milliseconds since which the statement is silent. A probe that finds it running sets it anew. */
  silentSince: number;
  /** True if a probe has not found the statement in the database. Its result can be on its way. */
  wasMissed: boolean;
}

/**
 * A pool of connections to one database. Errors are those of `pg`.
 *
 * A connection whose other end has vanished without a word, for example after a failover or behind a firewall that has
 * lost its state, would hold its statement until the timeout. If a statement gets no result, the pool therefore probes
 * the database over a new connection. If the database does not answer, or does not run the statement, the pool
 * replaces its connections. The statements reject on all connections that have had no result since the start of the
 * statement.
 */
export class PostgresPool implements PostgresConnection {
  readonly #pg: typeof import("pg");
  readonly #options: PostgresPoolOptions;
  #pool: Pool;
  /** Monotonic time in milliseconds of the last result of each connection. */
  #clients = new Map<ClientBase, number>();
  readonly #pendingStatements = new Set<PendingStatement>();
  #pendingCount = 0;
  /** Monotonic time in milliseconds of the last result, or of the first statement after a time without statements. */
  #lastResultAt = 0;
  #watchTimer: NodeJS.Timeout | undefined;
  #isProbing = false;

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
    const clients = new Map<ClientBase, number>();
    this.#clients = clients;
    pool.on("connect", (client) => {
      clients.set(client, performance.now());
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
    return this.#watch(async () => {
      const client = await this.#pool.connect();
      let failure: unknown;
      try {
        return await this.#run<Row>(client, this.#toQuery(statement, parameters));
      } catch (error) {
        failure = error;
        throw error;
      } finally {
        // Like `Pool.query`, which closes the connection of a statement that fails.
        client.release(failure !== undefined);
      }
    });
  }

  /** Runs a statement on a connection, and resolves with its rows. */
  async #run<Row>(client: ClientBase, query: QueryConfig | string): Promise<Row[]> {
    const startedAt = performance.now();
    const pending = { client, startedAt, silentSince: startedAt, wasMissed: false };
    this.#pendingStatements.add(pending);
    try {
      const { rows } = await client.query(query);
      this.#noteResult(client);
      return rows as Row[];
    } catch (error) {
      if (isServerError(error)) this.#noteResult(client);
      throw error;
    } finally {
      this.#pendingStatements.delete(pending);
    }
  }

  /** Runs `work` in one transaction on one connection. An error rolls the transaction back. */
  runTransaction<T>(work: (transaction: PostgresTransaction) => Promise<T>): Promise<T> {
    return this.#watch(() => this.#runTransaction(work));
  }

  async #runTransaction<T>(work: (transaction: PostgresTransaction) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let isUsable = true;
    try {
      await this.#run(client, "BEGIN");
      const result = await work({
        query: (statement, parameters) => this.#run(client, this.#toQuery(statement, parameters)),
        runScript: async (sql) => void (await this.#run(client, sql)),
      });
      await this.#run(client, "COMMIT");
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
      return await run();
    } finally {
      this.#pendingCount--;
    }
  }

  #noteResult(client: ClientBase): void {
    this.#lastResultAt = performance.now();
    if (this.#clients.has(client)) this.#clients.set(client, this.#lastResultAt);
  }

  #lookForSilence(): void {
    if (this.#pendingCount === 0) {
      clearInterval(this.#watchTimer);
      this.#watchTimer = undefined;
    } else if (
      !this.#isProbing &&
      (isSilent(this.#lastResultAt) || this.#findSilentStatements().length > 0)
    ) {
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
    const silent = this.#findSilentStatements();
    const isRunning = await this.#findRunningStatements().catch((error: unknown) =>
      isServerError(error) ? (): boolean => true : toError(error),
    );
    // The connections are new.
    if (clients !== this.#clients) return;
    if (isRunning instanceof Error) {
      // A result has arrived meanwhile.
      if (lastResultAt !== this.#lastResultAt) return;
      this.#replaceConnections(Infinity);
      this.#options.onUnreachable?.(isRunning);
      return;
    }
    for (const statement of silent.filter((each) => this.#pendingStatements.has(each)))
      if (isRunning(statement.client)) {
        statement.silentSince = performance.now();
        statement.wasMissed = false;
      } else if (statement.wasMissed) return this.#replaceConnections(statement.startedAt);
      // The result of a statement that has just ended can be on its way.
      else statement.wasMissed = true;
  }

  #findSilentStatements(): PendingStatement[] {
    return [...this.#pendingStatements].filter(({ silentSince }) => isSilent(silentSince));
  }

  /**
   * Asks the database over a new connection which connections of the pool run a statement. Rejects if the database does
   * not answer. Behind a pooler, the processes of the connections are unknown.
   */
  async #findRunningStatements(): Promise<(client: ClientBase) => boolean> {
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
      return await Promise.race([deadline, this.#listRunningStatements(client)]);
    } finally {
      clearTimeout(timer);
      client.end().catch(() => {});
    }
  }

  async #listRunningStatements(client: Client): Promise<(client: ClientBase) => boolean> {
    const processes = [...this.#clients.keys()].map(getProcessId);
    await client.connect();
    const { rows } = await client.query<{ pid: number; running: number[] }>(
      `SELECT pg_backend_pid() AS pid, ARRAY(
         SELECT pid FROM pg_stat_activity WHERE pid = ANY($1::int[]) AND state = 'active'
       ) AS running`,
      [processes],
    );
    const [row] = rows;
    const isPooled = row?.pid !== getProcessId(client);
    return (each) => isPooled || row.running.includes(getProcessId(each));
  }

  /**
   * Replaces all connections. The statements reject on the connections without a result after `since`, in monotonic
   * milliseconds. The other statements end before their connections.
   */
  #replaceConnections(since: number): void {
    const [pool, clients] = [this.#pool, this.#clients];
    this.#pool = this.#createPool();
    pool.end().catch(() => {});
    // `Client.end` destroys a connection whose statement has no result yet.
    for (const [client, lastResultAt] of clients)
      if (lastResultAt <= since) (client as Client).end().catch(() => {});
  }

  #toQuery(
    { name, text }: Pick<PostgresStatement<[], unknown>, "name" | "text">,
    parameters: readonly unknown[],
  ): QueryConfig {
    const query = { text, values: parameters.map(encodeParameter) };
    return this.#options.preparedStatements ? { name, ...query } : query;
  }
}

/** Returns true if nothing has happened for too long since `time`, in monotonic milliseconds. */
function isSilent(time: number): boolean {
  return performance.now() - time > SILENCE_MS;
}

/** Returns the id of the database process of a connection. */
function getProcessId(client: ClientBase): number {
  return (client as { processID?: number }).processID ?? 0;
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
