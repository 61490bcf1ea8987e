import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import { backupSqliteFile, hasRecordedLoss } from "../../stores/index.ts";
import type { CliContext } from "../cli-context.ts";
import { createUsageError } from "../cli-error.ts";
import { callMaintenanceIfServed } from "./maintenance-client.ts";
import { defineStoreCommand, formatBytes } from "./store-command.ts";

const POSTGRES_HINT = "Copy a PostgreSQL database with pg_dump.";

export function createStoreBackupCommand(context: CliContext): Command {
  const command = new Command("backup")
    .argument("<file>", "the new file for the copy")
    .addHelpText(
      "after",
      "\nTo restore a backup, stop the server, copy the key file to COPY.key, and serve the copy with --store sqlite:COPY.\nKeep the key file apart from the backup.",
    );
  return defineStoreCommand(command, context, POSTGRES_HINT, async ({ file, args, output }) => {
    const target = resolve(context.cwd, args[0] ?? "");
    if (existsSync(target)) throw createUsageError(`${target} exists. Pass the name of a new file.`);
    // After a loss, only the server can read what was stored.
    const isSaved = hasRecordedLoss(file) && (await callMaintenanceIfServed(file, "backup", { target }));
    if (!isSaved) await backupSqliteFile(file, target);
    const { size } = statSync(target);
    // Webhook secrets in the copy are encrypted with this key, which the copy does not contain.
    const keyFile = existsSync(`${file}.key`) ? `${file}.key` : undefined;
    output.writeResult(
      { file: target, bytes: size, ...(keyFile === undefined ? {} : { keyFile }) },
      { Backup: target, Size: formatBytes(size), ...(keyFile === undefined ? {} : { "Key file": keyFile }) },
    );
  });
}
