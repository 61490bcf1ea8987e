import { Command } from "commander";
import { type StoreSize, checkpointSqliteFile, measureSqliteFile } from "../../stores/index.ts";
import type { CliContext } from "../cli-context.ts";
import type { OutputWriter } from "../output-writer.ts";
import { callMaintenanceIfServed } from "./maintenance-client.ts";
import { defineStoreCommand, formatBytes, openUnservedStore } from "./store-command.ts";

const POSTGRES_HINT = "The autovacuum of PostgreSQL reuses the space of deleted tasks.";

export function createStoreCompactCommand(context: CliContext): Command {
  return defineStoreCommand(new Command("compact"), context, POSTGRES_HINT, async ({ file, output }) => {
    const served = await callMaintenanceIfServed<StoreSize>(file, "compact");
    if (!served) await rebuildUnusedFile(file, output);
    await checkpointSqliteFile(file);
    const { usedBytes, freeBytes } = await measureSqliteFile(file);
    output.writeResult(
      { file, usedBytes, freeBytes },
      { File: file, Used: formatBytes(usedBytes), Free: formatBytes(freeBytes) },
    );
  });
}

async function rebuildUnusedFile(file: string, output: OutputWriter): Promise<void> {
  const store = await openUnservedStore(file, output);
  try {
    store.rebuildFile();
  } finally {
    await store.close();
  }
}
