import { LruCache } from "../../base/data-structures/index.ts";

/** A value of a parameter or a column. */
export type SqlValue = null | number | bigint | string | NodeJS.ArrayBufferView;

type SqlRow = Record<string, SqlValue>;

/** Parameters by name, with the prefix of the name. A statement has either named or positional parameters. */
export type SqlParameters = readonly (SqlValue | Record<string, SqlValue>)[];

/** The number of changed rows and the key of the last new row. Read the result before the next statement. */
interface SqlChanges {
  readonly changes: number | bigint;
  readonly lastInsertRowid: number | bigint;
}

/**
 * A prepared statement. `StatementSync` of `node:sqlite` has these functions, and `DurableObjectDatabase` offers them on
 * the storage of a Durable Object.
 */
export interface SqlStatement {
  get(...parameters: SqlParameters): SqlRow | undefined;
  all(...parameters: SqlParameters): SqlRow[];
  /** Yields the rows one by one. The rows need not fit into the memory. */
  iterate(...parameters: SqlParameters): Iterable<SqlRow>;
  run(...parameters: SqlParameters): SqlChanges;
}

/** A connection to a SQLite database whose functions are synchronous. */
export interface SqlDatabase {
  /** Maximum number of terms of a compound SELECT. Default: the limit of SQLite, 500. */
  readonly maxUnionTerms?: number;
  prepare(sql: string): SqlStatement;
  /** Runs one or more statements without parameters. */
  exec(sql: string): void;
}

/** Number of statements that stay prepared. The statements of lists differ by filter and by the states of the tasks. */
const MAX_PREPARED_STATEMENTS = 256;

/** Runs statements by their text, and prepares each of them once. */
export class SqlStatements {
  readonly #db: SqlDatabase;
  readonly #statements = new LruCache<SqlStatement>(MAX_PREPARED_STATEMENTS);

  constructor(db: SqlDatabase) {
    this.#db = db;
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the statement determines the type of its rows
  get<Row = SqlRow>(sql: string, ...parameters: SqlParameters): Row | undefined {
    return this.#prepare(sql).get(...parameters) as Row | undefined;
  }

  all<Row = SqlRow>(sql: string, ...parameters: SqlParameters): Row[] {
    return this.#prepare(sql).all(...parameters) as Row[];
  }

  iterate<Row = SqlRow>(sql: string, ...parameters: SqlParameters): Iterable<Row> {
    return this.#prepare(sql).iterate(...parameters) as Iterable<Row>;
  }

  run(sql: string, ...parameters: SqlParameters): SqlChanges {
    return this.#prepare(sql).run(...parameters);
  }

  #prepare(sql: string): SqlStatement {
    let statement = this.#statements.get(sql);
    if (!statement) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
    return statement;
  }
}
