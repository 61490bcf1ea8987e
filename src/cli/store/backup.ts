import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import { backupSqliteFile } from "../../stores/index.ts";
import type { CliContext } from "../cli-context.ts";
import { createUsageError } from "../cli-error.ts";
import { defineStoreCommand, formatBytes } from "./store-command.ts";

export function createStoreBackupCommand(context: CliContext): Command {
  const command = new Command("backup")
    .argument("<file>", "the new file for the copy")
    .addHelpText(
      "after",
      "\nTo restore a backup, stop the server, and serve the copy with --store sqlite:COPY.",
    );
  return defineStoreCommand(command, context, async ({ file, args, output }) => {
    const target = resolve(context.cwd, args[0] ?? "");
    if (existsSync(target)) throw createUsageError(`${target} exists. Pass the name of a new file.`);
    await backupSqliteFile(file, target);
    if (existsSync(`${file}.key`))
      output.writeHint(
        `The backup does not contain the key of its webhook secrets. Keep a copy of ${file}.key apart.`,
      );
    const { size } = statSync(target);
    output.writeResult({ file: target, bytes: size }, { Backup: target, Size: formatBytes(size) });
  });
}
