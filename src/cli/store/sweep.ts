import { Command } from "commander";
import type { SweepReport } from "../../engine/index.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { callMaintenanceIfServed } from "./maintenance-client.ts";
import { defineStoreCommand } from "./store-command.ts";

const POSTGRES_HINT = "A server on a PostgreSQL database sweeps the database on its own.";

export function createStoreSweepCommand(context: CliContext): Command {
  return defineStoreCommand(new Command("sweep"), context, POSTGRES_HINT, async ({ file, output }) => {
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
