import { resolve } from "node:path";
import { Command, Option } from "commander";
import type { CliContext } from "../cli-context.ts";
import { parsePort } from "../client-options.ts";
import { OutputWriter } from "../output-writer.ts";
import { openInBrowser } from "../open-in-browser.ts";
import {
  addOutputFormatOptions,
  type OutputFormatOptions,
  type RunSelectionOptions,
} from "./cards-command-options.ts";
import { startWatchServer } from "./watch/watch-server.ts";
import { waitForAbort } from "../wait-for-abort.ts";

interface CardsWatchOptions extends RunSelectionOptions, OutputFormatOptions {
  port: number;
  open?: boolean;
}

export function createCardsWatchCommand(context: CliContext): Command {
  return addOutputFormatOptions(new Command("watch"))
    .argument("<file>", "a recording (.cards.jsonl), which need not exist yet")
    .addOption(
      new Option("--port <number>", "port to listen on, on this machine only; 0 for any free port")
        .argParser(parsePort)
        .default(0),
    )
    .addOption(new Option("--run <id>", "id of the run, if the file has several (default: the first)"))
    .option("--open", "open the page in the browser")
    .action(async (file: string, options: CardsWatchOptions) => runCardsWatch(file, options, context));
}

async function runCardsWatch(
  file: string,
  { port, run, open, output }: CardsWatchOptions,
  context: CliContext,
): Promise<void> {
  const { streams } = context;
  const reportedRuns = new Set<string>();
  const server = await startWatchServer({
    file: resolve(file),
    title: file,
    port,
    ...(run !== undefined && { runId: run }),
    onForeignRun: (runId) => {
      if (!reportedRuns.has(runId))
        streams.err(`The file also has run ${runId}. Use --run ${runId} to watch it.\n`);
      reportedRuns.add(runId);
    },
  });
  try {
    new OutputWriter(streams, output).writeResultIfJsonFormat({ url: server.url });
    streams.err(`Watching ${file}\n\n  ${server.url}\n\nCtrl-C stops it.\n`);
    if (open) openInBrowser(server.url, (why) => streams.err(`${why}\n`));
    await waitForAbort(context.interruptSignal);
  } finally {
    await server.close();
  }
}
