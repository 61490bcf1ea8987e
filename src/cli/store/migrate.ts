import { Command } from "commander";
import { formatStoreMigration } from "../../observe/logging/index.ts";
import { planPostgresMigration, PostgresStore } from "../../stores/index.ts";
import type { CliContext } from "../cli-context.ts";
import { createUsageError } from "../cli-error.ts";
import {
  defineStoreCommand,
  openUnservedStore,
  type PostgresStoreCommandInput,
  type StoreCommandInput,
} from "./store-commands.ts";

interface StoreMigrateOptions {
  backup: boolean;
  print?: boolean;
}

export function createStoreMigrateCommand(context: CliContext): Command {
  const command = new Command("migrate")
    .option("--no-backup", "do not copy the SQLite file before the migration")
    .option("--print", "print the SQL of the migration of a PostgreSQL database, and change nothing")
    .addHelpText(
      "after",
      "\nA server also migrates its store when it starts. The backup of a SQLite file is FILE.schema-VERSION.bak.",
    );
  return defineStoreCommand<StoreMigrateOptions>(
    command,
    context,
    migratePostgresDatabase,
    migrateSqliteFile,
  );
}

async function migrateSqliteFile({
  file,
  options,
  output,
}: StoreCommandInput<StoreMigrateOptions>): Promise<void> {
  if (options.print)
    throw createUsageError(
      "--print needs a PostgreSQL database. Pass --store postgres://USER@HOST/DATABASE.",
    );
  let backupFile: string | undefined;
  let isMigrated = false;
  const store = await openUnservedStore(file, output, { backupBeforeMigration: options.backup }, (report) => {
    ({ backupFile } = report);
    isMigrated = true;
  });
  await store.close();
  output.writeResult(
    { file, migrated: isMigrated, backup: backupFile ?? null },
    { File: file, Migrated: isMigrated ? "yes" : "no, the store is current", Backup: backupFile ?? "none" },
  );
}

async function migratePostgresDatabase({
  url,
  options,
  output,
}: PostgresStoreCommandInput<StoreMigrateOptions>): Promise<void> {
  const { fromVersion, toVersion, script } = await planPostgresMigration(url);
  if (options.print) {
    output.writeScript(
      { fromVersion, toVersion, script: script ?? null },
      script ?? "-- The store is current.",
    );
    return;
  }
  const store = new PostgresStore(url);
  await store.open((report) => output.writeHint(formatStoreMigration(report)));
  await store.close();
  const isMigrated = script !== undefined;
  output.writeResult(
    { store: store.name, migrated: isMigrated, fromVersion, toVersion },
    {
      Store: store.name,
      Migrated: isMigrated ? `yes, from schema ${fromVersion} to ${toVersion}` : "no, the store is current",
    },
  );
}
