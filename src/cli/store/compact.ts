import { Command } from "commander";
import type { StoreSize } from "../../engine/index.ts";
import { checkpointSqliteFile, measureSqliteFile } from "../../stores/index.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import type { OutputWriter } from "../output-writer.ts";
import { callMaintenanceIfServed } from "./maintenance-client.ts";
import { defineStoreCommand, formatBytes, openUnservedStore } from "./store-command.ts";

const POSTGRES_HINT = "The autovacuum of PostgreSQL reuses the space of deleted tasks.";

export function createStoreCompactCommand(context: CliContext): Command {
  return defineStoreCommand(new Command("compact"), context, POSTGRES_HINT, async ({ file, output }) => {
    const served = await callMaintenanceIfServed<StoreSize>(file, "compact");
    if (served) assertCanShrinkInUse(served, file);
    else await rebuildUnusedFile(file, output);
    await checkpointSqliteFile(file);
    const { usedBytes, freeBytes } = await measureSqliteFile(file);
    output.writeResult(
      { file, usedBytes, freeBytes },
      { File: file, Used: formatBytes(usedBytes), Free: formatBytes(freeBytes) },
    );
  });
}

function assertCanShrinkInUse({ canShrink }: StoreSize, file: string): void {
  if (canShrink) return;
  const text = `${file} was created by an earlier version of Colloquy, and cannot shrink while a server uses it.`;
  throw new CliError("A2ACLI_ERR_UNREACHABLE", text, "Stop the server, and run the command again.");
}

async function rebuildUnusedFile(file: string, output: OutputWriter): Promise<void> {
  const store = await openUnservedStore(file, output);
  try {
    store.rebuildFile();
  } finally {
    await store.close();
  }
}
