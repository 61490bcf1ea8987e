import { Command } from "commander";
import type { CliContext } from "./cli-context.ts";
import { addServeOptions } from "./serve.ts";
import type { DevOptions } from "./dev/serve-with-reload.ts";

/** Tasks of development are separate from the tasks of `colloquy serve`, which may run at the same time. */
const DEFAULT_STORE = "sqlite:.colloquy/dev.db";

export function createDevCommand(context: CliContext): Command {
  return addServeOptions(new Command("dev"), { store: DEFAULT_STORE, console: true })
    .argument(
      "[paths...]",
      "agent files, or directories with agents (default: agent.ts, or the directory agents)",
    )
    .option("--config <file>", "configuration file for options not given here (default: colloquy.config.ts)")
    .addHelpText(
      "after",
      `
A saved file is served at the next message. Running turns finish on the earlier code. A file with an error keeps its
earlier agent. The options are those of colloquy serve.

Examples:
  colloquy dev
  colloquy dev agent.ts
  colloquy dev agents/ --port 8080`,
    )
    .action(async (paths: string[], said: DevOptions, self: Command) => {
      const { serveWithReload } = await import("./dev/serve-with-reload.ts");
      await serveWithReload(paths, said.config, self, context);
    });
}
