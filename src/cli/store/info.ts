import { Command } from "commander";
import { measureSqliteFile } from "../../stores/index.ts";
import type { CliContext } from "../cli-context.ts";
import { findStoreServer } from "./maintenance-client.ts";
import { defineStoreCommand, formatBytes } from "./store-command.ts";

const POSTGRES_HINT = "Use psql, for example with the command \\dt+ colloquy.*";

export function createStoreInfoCommand(context: CliContext): Command {
  return defineStoreCommand(new Command("info"), context, POSTGRES_HINT, async ({ file, output }) => {
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
