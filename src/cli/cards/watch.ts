import { resolve } from "node:path";
import { Command, Option } from "commander";
import type { Context } from "../context.ts";
import { port } from "../options.ts";
import { Output } from "../output.ts";
import { Problem } from "../problem.ts";
import { openInBrowser } from "./open-in-browser.ts";
import { addDocumentOptions, type DocumentOptions, type RunFilesOptions } from "./options.ts";
import { watchServer, type WatchServer } from "./watch/server.ts";

interface WatchOptions extends RunFilesOptions, DocumentOptions {
  port: number;
  open?: boolean;
}

export function cardsWatchCommand(context: Context): Command {
  return addDocumentOptions(new Command("watch"))
    .argument("<file>", "a record (.cards.jsonl) that is being written, or is going to be")
    .addOption(
      new Option("--port <number>", "port to listen on, on this machine only; 0 for any that is free")
        .argParser(port)
        .default(0),
    )
    .addOption(new Option("--run <id>", "the run, where the file has several; default: the first"))
    .option("--open", "open the page in the browser")
    .action(async (file: string, options: WatchOptions) => watch(file, options, context));
}

async function watch(
  file: string,
  { port, run, open, output }: WatchOptions,
  context: Context,
): Promise<void> {
  const { streams, interrupted } = context;
  const told = new Set<string>();
  const server = await listening(port, () =>
    watchServer({
      file: resolve(file),
      title: file,
      port,
      ...(run !== undefined && { runId: run }),
      foreign: (runId) => {
        if (!told.has(runId)) streams.err(`There are lines of the run ${runId}, too: --run ${runId}\n`);
        told.add(runId);
      },
    }),
  );
  try {
    new Output(streams, output).fact({ url: server.url });
    streams.err(`Watching ${file}\n\n  ${server.url}\n\nCtrl-C stops.\n`);
    if (open) openInBrowser(server.url, (why) => streams.err(`${why}\n`));
    await new Promise<void>((stop) => {
      if (interrupted.aborted) stop();
      interrupted.addEventListener("abort", () => stop(), { once: true });
    });
  } finally {
    await server.close();
  }
}

async function listening(port: number, start: () => Promise<WatchServer>): Promise<WatchServer> {
  try {
    return await start();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    const hint = "Name another port, or none: then one that is free is taken.";
    throw new Problem("A2ACLI_ERR_USAGE", `The port ${port} is taken.`, hint, error);
  }
}
