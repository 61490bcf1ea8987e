import { DEFAULT_POSTGRES_OPTIONS } from "./postgres-store-options.ts";
import { readDatabaseState } from "./migrate-postgres-schema.ts";
import { toPostgresUnavailableError } from "./postgres-error-conversion.ts";
import { PostgresPool } from "./postgres-pool.ts";
import { POSTGRES_SCHEMA_VERSION, renderMigrationScript } from "./schema.ts";

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
