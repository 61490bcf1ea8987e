/**
 * SQL that PostgreSQL 14, CockroachDB, and YugabyteDB document. The store is tested only with PostgreSQL. The test keeps
 * the statements within the common language, and names each exception.
 */

/** Functions that the references of all three databases list. */
const PORTABLE_FUNCTIONS = new Set(
  `abs array_agg array_length cardinality clock_timestamp coalesce concat count current_database current_setting
  exists extract first_value gen_random_uuid greatest least length lower max md5 min mod nextval now nullif octet_length random
  row_number string_agg substring sum to_timestamp unnest upper`.split(/\s+/),
);

/** Words before a parenthesis that are no functions. */
const KEYWORDS = new Set(
  `all any array as by check conflict distinct else exists filter from group having in into interval join key lateral
  limit
  materialized not offset on or order ordinality over partition references returning select set table then union unique
  using values when where with and case`.split(/\s+/),
);

/** A statement that uses SQL outside of the common language. */
interface PortabilityException {
  /** Functions that at least one of the databases does not document. */
  readonly functions?: readonly string[];
  /** Tables that the statement modifies more than once. */
  readonly repeatedlyModifiedTables?: readonly string[];
}

const APPEND_EVENTS_EXCEPTION: PortabilityException = { repeatedlyModifiedTables: ["task", "message"] };
const APPEND_BATCH_EXCEPTION: PortabilityException = {
  repeatedlyModifiedTables: ["task", "message", "turn", "finished_step", "queued_turn"],
};

/**
 * Exceptions by the name of the statement. CockroachDB accepts several modifications of one table in a statement only
 * with the cluster setting `sql.multiple_modifications_of_table.enabled`, because it does not guarantee the result if
 * two of them change the same row. No two modifications of these statements change the same row.
 */
export const PORTABILITY_EXCEPTIONS: Readonly<Record<string, PortabilityException>> = {
  // CockroachDB has this function without effect, and YugabyteDB since version 2025.1. Use `colloquy store migrate`.
  colloquy_lock_migration: { functions: ["pg_advisory_xact_lock"] },
  colloquy_read_database_state: { functions: ["pg_database_size"] },
  // Some rows are inserted, and other rows are updated or deleted.
  colloquy_append_events: APPEND_EVENTS_EXCEPTION,
  colloquy_append_events_and_queue_text: APPEND_EVENTS_EXCEPTION,
  colloquy_append_batch: APPEND_BATCH_EXCEPTION,
  colloquy_append_batch_and_queue_text: APPEND_BATCH_EXCEPTION,
};

/** Returns the functions that a statement calls, in lower case. */
function listFunctions(sql: string): string[] {
  const withoutTexts = sql.replaceAll(/'[^']*'/g, "''").replaceAll("pg_catalog.", "");
  const called = [...withoutTexts.matchAll(/(?<![.\w])([a-z_][a-z0-9_]*)\s*\(/gi)]
    .filter(({ index, 1: name = "" }) => !isTableName(withoutTexts, index, name))
    .map(([, name = ""]) => name.toLowerCase());
  return [...new Set(called)].filter((name) => !KEYWORDS.has(name));
}

/** Returns true for a table or an alias that precedes a list of columns. */
function isTableName(sql: string, index: number, name: string): boolean {
  return (
    /\b(AS|INTO|REFERENCES|WITH|ON|TABLE|UNIQUE)\s*$/i.test(sql.slice(0, index)) &&
    !PORTABLE_FUNCTIONS.has(name)
  );
}

/** Returns the tables that a statement modifies more than once. */
function listRepeatedlyModifiedTables(sql: string): string[] {
  const tables = [...sql.matchAll(/\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+colloquy\.(\w+)/gi)].map(
    ([, table = ""]) => table,
  );
  return [...new Set(tables.filter((table, at) => tables.indexOf(table) !== at))];
}

/** Returns the differences between a statement and the common language, apart from its named exceptions. */
export function findUnportableSql(name: string, sql: string): string[] {
  const { functions = [], repeatedlyModifiedTables = [] } = PORTABILITY_EXCEPTIONS[name] ?? {};
  const unknown = listFunctions(sql).filter((called) => !PORTABLE_FUNCTIONS.has(called));
  return [
    ...unknown.filter((called) => !functions.includes(called)).map((called) => `calls ${called}`),
    ...listRepeatedlyModifiedTables(sql)
      .filter((table) => !repeatedlyModifiedTables.includes(table))
      .map((table) => `modifies ${table} twice`),
  ];
}

/** Returns the parts of an exception that its statement no longer needs. */
export function findStaleExceptions(name: string, sql: string): string[] {
  const { functions = [], repeatedlyModifiedTables = [] } = PORTABILITY_EXCEPTIONS[name] ?? {};
  const called = listFunctions(sql);
  const repeated = listRepeatedlyModifiedTables(sql);
  return [
    ...functions.filter((listed) => !called.includes(listed)),
    ...repeatedlyModifiedTables.filter((table) => !repeated.includes(table)),
  ];
}
