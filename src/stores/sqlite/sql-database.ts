/** A value of a parameter or a column. */
export type SqlValue = null | number | bigint | string | NodeJS.ArrayBufferView;

/** Parameters by name, with the prefix of the name. A statement has either named or positional parameters. */
export type SqlParameters = readonly (SqlValue | Record<string, SqlValue>)[];

/**
 * A prepared statement. `StatementSync` of `node:sqlite` has these functions, and `DurableObjectDatabase` offers them on
 * the storage of a Durable Object.
 */
export interface SqlStatement {
  get(...parameters: SqlParameters): Record<string, SqlValue> | undefined;
  all(...parameters: SqlParameters): Record<string, SqlValue>[];
  /** Yields the rows one by one. The rows need not fit into the memory. */
  iterate(...parameters: SqlParameters): Iterable<Record<string, SqlValue>>;
  /** Read the result before the next statement. */
  run(...parameters: SqlParameters): {
    readonly changes: number | bigint;
    readonly lastInsertRowid: number | bigint;
  };
}

/** A connection to a SQLite database whose functions are synchronous. */
export interface SqlDatabase {
  /** Maximum number of terms of a compound SELECT. Default: the limit of SQLite, 500. */
  readonly maxUnionTerms?: number;
  prepare(sql: string): SqlStatement;
  /** Runs one or more statements without parameters. */
  exec(sql: string): void;
}
