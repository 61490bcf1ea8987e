import type { StoreMigrationReport } from "../engine/index.ts";

/** Formats the progress of a migration as a sentence for operators. */
export function formatStoreMigration(report: StoreMigrationReport): string {
  const { store, phase, fromVersion, toVersion, nextVersion, backupFile, bytes, elapsedMs } = report;
  const seconds = `${(elapsedMs / 1000).toFixed(1)} s`;
  if (phase === "backup")
    return `The task store ${store} (${(bytes / 1e6).toFixed(1)} MB) is copied to ${backupFile} before its migration from schema ${fromVersion} to ${toVersion}`;
  if (phase === "step")
    return `The task store ${store} is migrated to schema ${nextVersion} of ${toVersion}, after ${seconds}`;
  const wayBack = backupFile
    ? `The earlier version of Colloquy can open ${backupFile}. Delete this backup when you no longer need it`
    : "There is no backup for the earlier version of Colloquy";
  return `The task store ${store} was migrated from schema ${fromVersion} to ${toVersion} in ${seconds}. ${wayBack}`;
}
