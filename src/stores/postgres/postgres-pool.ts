import type { ClientBase, Pool, PoolClient, PoolConfig, QueryConfig } from "pg";
import type { StoreGauges } from "../../engine/index.ts";
import type { PostgresStatement } from "./define-statement.ts";

/** Runs statements on a connection, or on any connection of a pool. */
export interface PostgresConnection {
  /** Resolves with the rows of the result. */
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
}

/** A pool of connections to one database. Errors are those of `pg`. */
export class PostgresPool implements PostgresConnection {
  readonly #pool: Pool;
  readonly #isPreparing: boolean;

  private constructor(pool: Pool, isPreparing: boolean) {
    this.#pool = pool;
    this.#isPreparing = isPreparing;
  }

  /** Creates a pool without a connection. Rejects if the package `pg` is not installed. */
  static async create(options: PostgresPoolOptions): Promise<PostgresPool> {
    const { Pool: PgPool, types } = await importPg();
    const config: PoolConfig = {
      connectionString: options.url,
      max: options.size,
      connectionTimeoutMillis: options.connectTimeoutMs,
      query_timeout: options.queryTimeoutMs,
      keepAlive: true,
      application_name: "colloquy",
      // Settings of a session would reach other clients of a pooler in transaction mode.
      // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for the promise
      ...(options.preparedStatements ? { onConnect: fixPlans } : {}),
      // By default, `pg` returns a bigint as text.
      types: {
        getTypeParser: (oid, format) =>
          oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format),
      },
    };
    const pool = new PgPool(config);
    // The pool replaces an idle connection that fails. The next statement reports a database that is down.
    pool.on("error", () => {});
    return new PostgresPool(pool, options.preparedStatements);
  }

  async query<Parameters extends readonly unknown[], Row>(
    statement: PostgresStatement<Parameters, Row>,
    parameters: Parameters,
  ): Promise<Row[]> {
    return (await this.#pool.query(this.#toQuery(statement, parameters))).rows as Row[];
  }

  /** Runs `work` in one transaction on one connection. An error rolls the transaction back. */
  async runTransaction<T>(work: (transaction: PostgresTransaction) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let isUsable = true;
    try {
      await client.query("BEGIN");
      const result = await work({
        query: async (statement, parameters) =>
          (await client.query(this.#toQuery(statement, parameters))).rows as never,
        runScript: async (sql) => void (await client.query(sql)),
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
    await this.#pool.end();
  }

  #toQuery(
    { name, text }: Pick<PostgresStatement<[], unknown>, "name" | "text">,
    parameters: readonly unknown[],
  ): QueryConfig {
    const query = { text, values: [...parameters] };
    return this.#isPreparing ? { name, ...query } : query;
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

/** Imports the package `pg`. Rejects with an instruction if the package is not installed. */
export async function importPg(): Promise<typeof import("pg")> {
  try {
    return await import("pg");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new Error("The PostgreSQL store requires an additional package: npm install pg", { cause });
  }
}
