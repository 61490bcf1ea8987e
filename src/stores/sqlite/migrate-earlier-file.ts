import { existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { StoreMigrationListener, StoreMigrationReport } from "../../engine/index.ts";
import { A2AError } from "../../protocol/index.ts";
import type { PushSecretCipher } from "../push-secret-cipher.ts";
import { migrateSchema, readSchemaVersion, SCHEMA_VERSION } from "./schema.ts";
import { replaceSqliteBackup } from "./shared-file-operations.ts";

export interface MigrationOptions {
  /** Display name of the store. */
  readonly store: string;
  /** Whether the migration first copies the file. */
  readonly backUp: boolean;
  readonly onMigration?: StoreMigrationListener | undefined;
}

/** Interval in milliseconds between two reports about the steps of a migration. */
const STEP_REPORT_INTERVAL_MS = 1000;

/**
 * Migrates a file that an earlier version of Colloquy wrote, in one transaction. Before the migration, the
 * file is copied to `<file>.schema-<version>.bak`, which the earlier version can open. Other files stay
 * unchanged. Call the function only while the process holds the lock of the file.
 */
export function migrateEarlierFile(
  file: string,
  connect: (file: string) => DatabaseSync,
  cipher: PushSecretCipher,
  { store, backUp, onMigration = () => {} }: MigrationOptions,
): void {
  if (!existsSync(file)) return;
  const db = connect(file);
  try {
    db.exec("PRAGMA busy_timeout = 1000; PRAGMA cache_size = -65536");
    const fromVersion = readSchemaVersion(db);
    if (fromVersion === 0 || fromVersion >= SCHEMA_VERSION) return;
    const startedAt = performance.now();
    const bytes = measureUsedBytes(db);
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
    // Plain text that the migration encrypts must not remain in free space of the file.
    db.exec("PRAGMA secure_delete = ON");
    const onStep = (nextVersion: number): void => {
      if (performance.now() - reportedAt >= STEP_REPORT_INTERVAL_MS) report({ phase: "step", nextVersion });
    };
    migrateSchema(db, file, SCHEMA_VERSION, { onStep, cipher });
    report({ phase: "done" });
  } finally {
    db.close();
  }
}

function measureUsedBytes(db: DatabaseSync): number {
  const readPragma = (name: string): number => db.prepare(`PRAGMA ${name}`).get()?.[name] as number;
  return (readPragma("page_count") - readPragma("freelist_count")) * readPragma("page_size");
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
