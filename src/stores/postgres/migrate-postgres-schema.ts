import type { StoreMigrationListener } from "../../engine/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { isPrivilegeError, toPostgresUnavailableError } from "./postgres-error-conversion.ts";
import { PostgresPool, type PostgresConnection, type PostgresTransaction } from "./postgres-pool.ts";
import { DEFAULT_POSTGRES_OPTIONS } from "./postgres-store-options.ts";
import { createUnreleasedSchemaError } from "../sqlite/schema-version.ts";
import { CREATE_VERSION_TABLE_SQL, POSTGRES_SCHEMA_STEPS } from "./schema.ts";
import { LOCK_MIGRATION, READ_DATABASE_STATE, READ_SCHEMA_VERSION } from "./statements/schema-state.ts";

export const POSTGRES_SCHEMA_VERSION: number = POSTGRES_SCHEMA_STEPS.length;

const SET_VERSION_SQL = `DELETE FROM colloquy.schema_state;
INSERT INTO colloquy.schema_state (version) VALUES (${POSTGRES_SCHEMA_VERSION});`;

interface PostgresMigrationOptions {
  /** Display name of the store. */
  readonly store: string;
  /** Whether to migrate an older schema. If false, an older schema is an error. */
  readonly migrate: boolean;
  readonly onMigration?: StoreMigrationListener | undefined;
}

interface DatabaseState {
  /** Schema version, or 0 without tables. */
  readonly version: number;
  /** Size of the database in bytes. */
  readonly bytes: number;
}

/**
 * Creates the tables of an empty database, or runs the steps that an older schema lacks, in one transaction. Other
 * processes that start at the same time wait, and find the new schema. Rejects if a newer version of Colloquy has
 * migrated the database.
 */
export async function migratePostgresSchema(
  pool: PostgresPool,
  options: PostgresMigrationOptions,
): Promise<void> {
  const { version } = await readDatabaseState(pool);
  if (version === POSTGRES_SCHEMA_VERSION) return;
  if (!options.migrate) throw createOldSchemaError(version);
  await pool.runTransaction(async (transaction) => {
    await transaction.query(LOCK_MIGRATION, []);
    const state = await readDatabaseState(transaction);
    if (state.version < POSTGRES_SCHEMA_VERSION) await runMigrations(transaction, state, options);
  });
}

/** Reads the schema version, and rejects a database that this version of Colloquy cannot use. */
async function readDatabaseState(connection: PostgresConnection): Promise<DatabaseState> {
  const [state] = await connection.query(READ_DATABASE_STATE, []);
  if (state && state.encoding !== "UTF8")
    throw new A2AError(
      "UNAVAILABLE",
      `The database has the encoding ${state.encoding}, but tasks need UTF8; create a database with ENCODING 'UTF8'.`,
    );
  if (state?.has_unreleased_tables)
    throw createUnreleasedSchemaError("The database", "run DROP SCHEMA colloquy CASCADE");
  const version = state?.has_versions
    ? ((await connection.query(READ_SCHEMA_VERSION, []))[0]?.version ?? 0)
    : 0;
  if (version > POSTGRES_SCHEMA_VERSION)
    throw new A2AError(
      "UNAVAILABLE",
      `The database was migrated by a newer version of Colloquy (schema ${version}, this one knows ${POSTGRES_SCHEMA_VERSION}); upgrade Colloquy or choose another database.`,
    );
  return { version, bytes: state?.bytes ?? 0 };
}

async function runMigrations(
  transaction: PostgresTransaction,
  { version, bytes }: DatabaseState,
  { store, onMigration = () => {} }: PostgresMigrationOptions,
): Promise<void> {
  const startedAt = performance.now();
  const migration = {
    store,
    fromVersion: version,
    toVersion: POSTGRES_SCHEMA_VERSION,
    backupFile: undefined,
    bytes,
  };
  // The creation of the tables in an empty database is no migration.
  const report = (progress: { phase: "step"; nextVersion: number } | { phase: "done" }): void => {
    if (version > 0)
      onMigration({ ...migration, ...progress, elapsedMs: Math.round(performance.now() - startedAt) });
  };
  await transaction.runScript(CREATE_VERSION_TABLE_SQL).catch((error: unknown) => {
    // PostgreSQL requires the privilege even if the schema exists.
    throw isPrivilegeError(error) ? createPrivilegeError(error) : error;
  });
  for (const [at, sql] of POSTGRES_SCHEMA_STEPS.slice(version).entries()) {
    report({ phase: "step", nextVersion: version + at + 1 });
    await transaction.runScript(sql);
  }
  await transaction.runScript(SET_VERSION_SQL);
  report({ phase: "done" });
}

function createOldSchemaError(version: number): A2AError {
  const current = version === 0 ? "has no tables of Colloquy" : `has schema ${version}`;
  return new A2AError(
    "UNAVAILABLE",
    `The database ${current}, and this version of Colloquy needs schema ${POSTGRES_SCHEMA_VERSION}; run colloquy store migrate.`,
  );
}

function createPrivilegeError(cause: unknown): A2AError {
  return new A2AError(
    "UNAVAILABLE",
    "The task store is not available: the user may not create the schema colloquy; run GRANT CREATE ON DATABASE name TO user, or let the owner of the database run colloquy store migrate.",
    { cause },
  );
}

export interface PostgresMigrationPlan {
  /** Schema version of the database, or 0 without tables. */
  readonly fromVersion: number;
  /** Schema version that this version of Colloquy uses. */
  readonly toVersion: number;
  /** SQL script that migrates the database in one transaction, or `undefined` if the database is current. */
  readonly script: string | undefined;
}

/** Reads the schema version of the database at `url`, without a change. */
export async function planPostgresMigration(url: string): Promise<PostgresMigrationPlan> {
  const pool = await PostgresPool.create({ ...DEFAULT_POSTGRES_OPTIONS, url, size: 1 });
  try {
    const { version } = await readDatabaseState(pool);
    const script = version < POSTGRES_SCHEMA_VERSION ? renderMigrationScript(version) : undefined;
    return { fromVersion: version, toVersion: POSTGRES_SCHEMA_VERSION, script };
  } catch (error) {
    throw toPostgresUnavailableError(error);
  } finally {
    await pool.close();
  }
}

/** Returns the SQL script that migrates a database from `version` to the current schema, in one transaction. */
function renderMigrationScript(version: number): string {
  const steps = POSTGRES_SCHEMA_STEPS.slice(version).map(
    (sql, at) => `-- Schema version ${version + at + 1}\n${sql.trim()}\n`,
  );
  return ["BEGIN;", CREATE_VERSION_TABLE_SQL.trim(), ...steps, SET_VERSION_SQL, "COMMIT;"].join("\n");
}
