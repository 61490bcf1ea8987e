import type { Command } from "commander";
import type { CliContext } from "./cli-context.ts";
import { parseDuration } from "./client-options.ts";
import { createServeCommand } from "./serve.ts";

/** Creates the command `worker`, which has the arguments and options of `serve` except `--role`. */
export function createWorkerCommand(context: CliContext): Command {
  return createServeCommand(context, "worker")
    .option("--once", "process the waiting turns and push notifications, print their numbers, and exit")
    .option("--time-limit <duration>", "maximum time for --once (default: 50s)", parseDuration)
    .setOptionValueWithSource("role", "worker", "cli");
}
