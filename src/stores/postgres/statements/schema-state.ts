import { type PostgresStatement, defineStatement } from "../define-statement.ts";

/** Reads the schema version. Fails if the database has no table of versions. */
export const READ_SCHEMA_VERSION: PostgresStatement<readonly [], { readonly version: number }> =
  defineStatement(
    "colloquy_read_schema_version",
    "SELECT coalesce(max(version), 0) AS version FROM colloquy.schema_state",
  );

/**
 * Finds out whether the database has a table of versions, of this or of an unreleased version, and reads the encoding of
 * the database. `to_regclass` can return a result from before the wait for another migration, because the function uses
 * a cache. Unreleased versions had other tables of versions.
 */
export const READ_DATABASE_STATE: PostgresStatement<
  readonly [],
  {
    readonly has_versions: boolean;
    readonly has_unreleased_tables: boolean;
    readonly encoding: string;
    readonly bytes: number;
  }
> = defineStatement(
  "colloquy_read_database_state",
  `SELECT EXISTS (
      SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = 'colloquy' AND tablename = 'schema_state'
    ) AS has_versions,
    EXISTS (
      SELECT 1 FROM pg_catalog.pg_tables
      WHERE schemaname = 'colloquy' AND tablename IN ('schema_version', 'store_version')
    ) AS has_unreleased_tables,
    current_setting('server_encoding') AS encoding, pg_database_size(current_database()) AS bytes`,
);

/**
 * Waits for the migration of another process. The lock ends with the transaction, so that it works with a pooler. The
 * number is an arbitrary constant.
 */
export const LOCK_MIGRATION: PostgresStatement<readonly [], { readonly locked: unknown }> = defineStatement(
  "colloquy_lock_migration",
  "SELECT pg_advisory_xact_lock(4027015012) AS locked",
);
