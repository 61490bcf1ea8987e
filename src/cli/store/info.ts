import { Command } from "commander";
import { readMaintenanceAddress, type StoreInfo } from "../../server/index.ts";
import { measureSqliteFile } from "../../stores/index.ts";
import type { CliContext } from "../cli-context.ts";
import { callMaintenanceIfServed } from "./maintenance-client.ts";
import { defineStoreCommand, formatBytes } from "./store-command.ts";

const POSTGRES_HINT = "Use psql, for example with the command \\dt+ colloquy.*";

export function createStoreInfoCommand(context: CliContext): Command {
  return defineStoreCommand(new Command("info"), context, POSTGRES_HINT, async ({ file, output }) => {
    const served = await callMaintenanceIfServed<StoreInfo>(file, "info");
    const pid = served && readMaintenanceAddress(file)?.pid;
    const { usedBytes, freeBytes, canShrink } = served ?? (await measureSqliteFile(file));
    output.writeResult(
      { file, usedBytes, freeBytes, canShrink, serverProcess: pid ?? null, state: served?.state ?? null },
      {
        File: file,
        Used: formatBytes(usedBytes),
        Free: formatBytes(freeBytes),
        Server: pid === undefined ? "none" : `process ${pid}`,
        ...(served && { State: served.state }),
      },
    );
    if (!canShrink)
      output.writeHint(
        "the file cannot shrink while it is in use: stop the server, and run colloquy store compact",
      );
  });
}
