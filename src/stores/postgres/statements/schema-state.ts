import { type PostgresStatement, defineStatement } from "../define-statement.ts";

/** Reads the schema version. Fails if the database has no table of versions. */
export const READ_SCHEMA_VERSION: PostgresStatement<readonly [], { readonly version: number }> =
  defineStatement(
    "colloquy_read_schema_version",
    "SELECT coalesce(max(version), 0) AS version FROM colloquy.store_version",
  );

/**
 * Finds out whether the database has a table of versions, of this or of an unreleased version, and reads the encoding of
 * the database. `to_regclass` can return a result from before the wait for another migration, because the function uses
 * a cache. `information_schema` hides the columns of tables on which the user has no privileges.
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
      SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = 'colloquy' AND tablename = 'store_version'
    ) AS has_versions,
    EXISTS (
      SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = 'colloquy' AND tablename = 'schema_version'
    ) OR (
      SELECT NOT EXISTS (
        SELECT 1 FROM pg_catalog.pg_attribute
        WHERE attrelid = log.oid AND attname = 'committed_at' AND NOT attisdropped
      )
      FROM pg_catalog.pg_class AS log JOIN pg_catalog.pg_namespace AS schema ON schema.oid = log.relnamespace
      WHERE schema.nspname = 'colloquy' AND log.relname = 'log'
    ) IS TRUE AS has_unreleased_tables,
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
