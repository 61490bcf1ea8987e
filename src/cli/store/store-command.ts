import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import type { StoreMigrationListener } from "../../engine/index.ts";
import { formatStoreMigration } from "../../observe/logging/index.ts";
import { readMaintenanceAddress } from "../../server/index.ts";
import { isPostgresUrl, SqliteStore, type SqliteStoreOptions } from "../../stores/index.ts";
import type { CliContext } from "../cli-context.ts";
import { createUsageError } from "../cli-error.ts";
import { createOutputOption } from "../client-options.ts";
import { OutputWriter, type OutputFormat } from "../output-writer.ts";

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
