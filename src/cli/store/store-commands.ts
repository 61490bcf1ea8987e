import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import type { StoreMigrationListener, SweepReport } from "../../engine/index.ts";
import { formatStoreMigration } from "../../observe/logging/index.ts";
import { readMaintenanceAddress } from "../../server/index.ts";
import {
  backupSqliteFile,
  checkpointSqliteFile,
  hasRecordedLoss,
  isPostgresUrl,
  measureSqliteFile,
  SqliteStore,
  type SqliteStoreOptions,
  type StoreSize,
} from "../../stores/index.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError, createUsageError } from "../cli-error.ts";
import { createOutputOption } from "../client-options.ts";
import { type OutputFormat, OutputWriter } from "../output-writer.ts";
import { callMaintenanceIfServed, findStoreServer } from "./maintenance-client.ts";

interface StoreCommandOptions {
  store: string;
  output: OutputFormat;
}

/** Input of a command that maintains a task store. */
export interface StoreCommandInput<O> {
  /** Absolute path of the store's SQLite file, which exists, or has a server. */
  readonly file: string;
  readonly args: readonly string[];
  readonly options: O & StoreCommandOptions;
  readonly output: OutputWriter;
}

const SQLITE_PREFIX = "sqlite:";

/** Input of a command that maintains a task store in a PostgreSQL database. */
export interface PostgresStoreCommandInput<O> {
  readonly url: string;
  readonly options: O & StoreCommandOptions;
  readonly output: OutputWriter;
}

/**
 * Defines a `colloquy store` command. `work` does the work of the command for a SQLite file, and `workOnPostgres` for a
 * PostgreSQL database. If `workOnPostgres` is text, the command refuses databases, and prints the text as the hint.
 */
export function defineStoreCommand<O extends object>(
  command: Command,
  { streams, cwd }: CliContext,
  workOnPostgres: ((input: PostgresStoreCommandInput<O>) => Promise<void>) | string,
  work: (input: StoreCommandInput<O>) => Promise<void>,
): Command {
  const refusesPostgres = typeof workOnPostgres === "string";
  const acceptedStores = refusesPostgres ? "sqlite:FILE" : "sqlite:FILE or postgres://USER@HOST/DATABASE";
  return command
    .option(
      "--store <store>",
      `task store, as in colloquy serve: ${acceptedStores}`,
      "sqlite:.colloquy/colloquy.db",
    )
    .addOption(createOutputOption().env("A2ACLI_OUTPUT"))
    .action(async (...parameters: unknown[]) => {
      const self = parameters.at(-1) as Command;
      const options = self.opts<O & StoreCommandOptions>();
      const output = new OutputWriter(streams, options.output);
      if (isPostgresUrl(options.store)) {
        if (refusesPostgres)
          throw createUsageError("This command maintains only SQLite files.", workOnPostgres);
        return await workOnPostgres({ url: options.store, options, output });
      }
      const file = resolveStoreFile(options.store, cwd, acceptedStores);
      await work({ file, args: self.args, options, output });
    });
}

function resolveStoreFile(store: string, cwd: string, acceptedStores: string): string {
  if (!store.startsWith(SQLITE_PREFIX))
    throw createUsageError(`The store ${store} has no file. Pass --store ${acceptedStores}.`);
  const file = resolve(cwd, store.slice(SQLITE_PREFIX.length));
  // The server of a store can read a file that was removed.
  if (existsSync(file) || readMaintenanceAddress(file)) return file;
  throw createUsageError(
    `There is no task store at ${file}. Pass the file of a store with --store sqlite:FILE.`,
  );
}

/** Opens a store that no server uses. Shows the progress if the store is migrated. */
export async function openUnservedStore(
  file: string,
  output: OutputWriter,
  options: SqliteStoreOptions = {},
  onMigration: StoreMigrationListener = () => {},
): Promise<SqliteStore> {
  const store = new SqliteStore(file, options);
  await store.open((report) => {
    output.writeHint(formatStoreMigration(report));
    onMigration(report);
  });
  return store;
}

/** Formats a number of bytes for people, such as `1.5 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return bytes < 1_000_000_000
    ? `${(bytes / 1_000_000).toFixed(1)} MB`
    : `${(bytes / 1_000_000_000).toFixed(2)} GB`;
}

/** What users of a PostgreSQL database do instead of a command. */
const POSTGRES_HINTS = {
  info: "Use psql, for example with the command \\dt+ colloquy.*",
  backup: "Copy a PostgreSQL database with pg_dump.",
  sweep: "A server on a PostgreSQL database sweeps the database on its own.",
  compact: "The autovacuum of PostgreSQL reuses the space of deleted tasks.",
};

export function createStoreInfoCommand(context: CliContext): Command {
  return defineStoreCommand(new Command("info"), context, POSTGRES_HINTS.info, async ({ file, output }) => {
    const server = await findStoreServer(file);
    const pid = server?.address.pid;
    const state = server && (server.info?.state ?? "unresponsive");
    // Only the server can read a file that was removed or damaged.
    const lost = server?.info?.state === "lost" ? server.info : undefined;
    const { usedBytes, freeBytes } = lost ?? (await measureSqliteFile(file));
    output.writeResult(
      { file, usedBytes, freeBytes, serverProcess: pid ?? null, state: state ?? null },
      {
        File: file,
        Used: formatBytes(usedBytes),
        Free: formatBytes(freeBytes),
        Server: pid === undefined ? "none" : `process ${pid}`,
        ...(state && { State: state }),
      },
    );
  });
}

export function createStoreBackupCommand(context: CliContext): Command {
  const command = new Command("backup")
    .argument("<file>", "the new file for the copy")
    .addHelpText(
      "after",
      "\nTo restore a backup, stop the server, copy the key file to COPY.key, and serve the copy with --store sqlite:COPY.\nKeep the key file apart from the backup.",
    );
  return defineStoreCommand(command, context, POSTGRES_HINTS.backup, async ({ file, args, output }) => {
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

export function createStoreSweepCommand(context: CliContext): Command {
  return defineStoreCommand(new Command("sweep"), context, POSTGRES_HINTS.sweep, async ({ file, output }) => {
    const report = await callMaintenanceIfServed<SweepReport>(file, "sweep");
    if (!report) {
      const text = `No server uses ${file}. Only the server knows its retention policy.`;
      throw new CliError("A2ACLI_ERR_UNREACHABLE", text, "Start the server, and run the command again.");
    }
    const { deletedTasks, trimmedTasks, isOverMaxBytes } = report;
    output.writeResult(report, {
      "Deleted tasks": String(deletedTasks),
      "Tasks with deleted events": String(trimmedTasks),
    });
    if (isOverMaxBytes)
      output.writeWarning("the store is larger than maxBytes, and has no ended tasks left to delete");
  });
}

export function createStoreCompactCommand(context: CliContext): Command {
  return defineStoreCommand(
    new Command("compact"),
    context,
    POSTGRES_HINTS.compact,
    async ({ file, output }) => {
      const served = await callMaintenanceIfServed<StoreSize>(file, "compact");
      if (!served) await rebuildUnusedFile(file, output);
      await checkpointSqliteFile(file);
      const { usedBytes, freeBytes } = await measureSqliteFile(file);
      output.writeResult(
        { file, usedBytes, freeBytes },
        { File: file, Used: formatBytes(usedBytes), Free: formatBytes(freeBytes) },
      );
    },
  );
}

async function rebuildUnusedFile(file: string, output: OutputWriter): Promise<void> {
  const store = await openUnservedStore(file, output);
  try {
    store.rebuildFile();
  } finally {
    await store.close();
  }
}
