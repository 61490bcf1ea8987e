import { writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { Command } from "commander";
import { htmlOf } from "../../cards/index.ts";
import type { Context } from "../context.ts";
import { openInBrowser } from "./open-in-browser.ts";
import { readRun } from "./read.ts";

interface Options {
  out?: string;
  run?: string;
  open?: boolean;
}

export function cardsHtmlCommand(context: Context): Command {
  return (
    new Command("html")
      .argument(
        "<files...>",
        "records (.cards.jsonl); several of one run are joined; or a list of cards (.json)",
      )
      // Not the format, as elsewhere: there is only one.
      .option("-o, --out <file>", "where the page goes; - for stdout; default: beside the record, as .html")
      .option("--run <id>", "the run, where a file has several")
      .option("--open", "open the page in the browser")
      .action(async (files: string[], options: Options) => html(files, options, context))
  );
}

async function html(
  files: readonly string[],
  { out, run, open }: Options,
  { streams }: Context,
): Promise<void> {
  const { name, recording } = await readRun(files, run);
  const page = htmlOf(recording, { title: name });
  if (out === "-") return streams.out(page);
  const [first = ""] = files;
  const target = out ?? join(dirname(first), `${basename(first).replace(/(\.cards)?\.jsonl?$/, "")}.html`);
  await writeFile(target, page);
  streams.out(`${target}\n`);
  if (open) openInBrowser(resolve(target), (why) => streams.err(`${why}\n`));
}
