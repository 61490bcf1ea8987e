import { existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { StoreMigrationListener, StoreMigrationReport } from "../../engine/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { measureDatabaseSize, readPragma } from "./database-size.ts";
import {
  assertKnownSchemaVersion,
  createUnreleasedSchemaError,
  runSchemaSteps,
  SCHEMA_VERSION,
} from "./schema-version.ts";
import { replaceSqliteBackup } from "./shared-file-operations.ts";

/**
 * The `application_id` of each SQLite file with tasks. Versions of Colloquy before the first release used no
 * `application_id`, and other numbers of schema versions.
 */
export const APPLICATION_ID = 0x436c6f72;
/** Interval in milliseconds between two reports about the steps of a migration. */
const STEP_REPORT_INTERVAL_MS = 1000;

export interface MigrationOptions {
  /** Display name of the store. */
  readonly store: string;
  /** Whether the migration first copies the file. */
  readonly backUp: boolean;
  readonly onMigration?: StoreMigrationListener | undefined;
}

/**
 * Creates the tables of an empty file, or runs the steps that an older file lacks, in one transaction. Throws an error if
 * a newer version of Colloquy, or a version before the first release, wrote the file.
 */
export function migrateSchema(db: DatabaseSync, path: string, onStep?: (nextVersion: number) => void): void {
  const version = readSchemaVersion(db, path);
  if (version === SCHEMA_VERSION) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    runSchemaSteps(db, version, onStep);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT;`);
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/**
 * Migrates a file that an earlier version of Colloquy wrote, in one transaction. Before the migration, the
 * file is copied to `<file>.schema-<version>.bak`, which the earlier version can open. Other files stay
 * unchanged. Call the function only while the process holds the lock of the file.
 */
export function migrateEarlierFile(
  file: string,
  connect: (file: string) => DatabaseSync,
  { store, backUp, onMigration = () => {} }: MigrationOptions,
): void {
  if (!existsSync(file)) return;
  const db = connect(file);
  try {
    db.exec("PRAGMA busy_timeout = 1000; PRAGMA cache_size = -65536");
    const fromVersion = readSchemaVersion(db, file);
    if (fromVersion === 0 || fromVersion === SCHEMA_VERSION) return;
    const startedAt = performance.now();
    const bytes = measureDatabaseSize(db).usedBytes;
    const backupFile = backUp ? `${file}.schema-${fromVersion}.bak` : undefined;
    const migration = { store, fromVersion, toVersion: SCHEMA_VERSION, backupFile, bytes };
    let reportedAt = -Infinity;
    const report = (progress: Pick<StoreMigrationReport, "phase" | "nextVersion">): void => {
      reportedAt = performance.now();
      onMigration({ ...migration, ...progress, elapsedMs: Math.round(reportedAt - startedAt) });
    };
    if (backupFile !== undefined) {
      assertRoomForBackup(file, bytes);
      report({ phase: "backup" });
      replaceSqliteBackup(db, backupFile);
    }
    migrateSchema(db, file, (nextVersion) => {
      if (performance.now() - reportedAt >= STEP_REPORT_INTERVAL_MS) report({ phase: "step", nextVersion });
    });
    report({ phase: "done" });
  } finally {
    db.close();
  }
}

/** Returns the schema version of a file, or 0 for an empty file. Throws an error if this version cannot use the file. */
function readSchemaVersion(db: DatabaseSync, path: string): number {
  const version = readPragma(db, "user_version");
  if (version > 0 && readPragma(db, "application_id") !== APPLICATION_ID)
    throw createUnreleasedSchemaError(path, `move the file away: mv ${path} ${path}.old`);
  assertKnownSchemaVersion(version, path);
  return version;
}

function assertRoomForBackup(file: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(dirname(file));
  const freeBytes = bavail * bsize;
  if (freeBytes > bytes) return;
  throw new A2AError(
    "UNAVAILABLE",
    `${file} was written by an earlier version of Colloquy, and the backup before its migration needs ${formatMegabytes(bytes)}, but the disk has only ${formatMegabytes(freeBytes)} free. Free some space, or copy the file elsewhere and run: colloquy store migrate --no-backup`,
  );
}

function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toLocaleString("en-US", { maximumFractionDigits: 1 })} MB`;
}
