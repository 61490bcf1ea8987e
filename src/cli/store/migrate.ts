import { Command } from "commander";
import type { CliContext } from "../cli-context.ts";
import { defineStoreCommand, openUnservedStore } from "./store-command.ts";

interface StoreMigrateOptions {
  backup: boolean;
}

export function createStoreMigrateCommand(context: CliContext): Command {
  const command = new Command("migrate")
    .option("--no-backup", "do not copy the store before the migration")
    .addHelpText(
      "after",
      "\nA server also migrates its store when it starts. The backup is FILE.schema-VERSION.bak.",
    );
  return defineStoreCommand<StoreMigrateOptions>(command, context, async ({ file, options, output }) => {
    let backupFile: string | undefined;
    let isMigrated = false;
    const store = await openUnservedStore(
      file,
      output,
      { backupBeforeMigration: options.backup },
      (report) => {
        ({ backupFile } = report);
        isMigrated = true;
      },
    );
    await store.close();
    output.writeResult(
      { file, migrated: isMigrated, backup: backupFile ?? null },
      { File: file, Migrated: isMigrated ? "yes" : "no, the store is current", Backup: backupFile ?? "none" },
    );
  });
}
