import { basename, dirname, join, resolve } from "node:path";
import { Command } from "commander";
import { htmlOf } from "../../cards/index.ts";
import type { Context } from "../context.ts";
import { openInBrowser } from "./open-in-browser.ts";
import { addRunFiles, type RunFilesOptions } from "./options.ts";
import { readRun } from "./read.ts";
import { save } from "./save.ts";

interface HtmlOptions extends RunFilesOptions {
  out?: string;
  open?: boolean;
}

export function cardsHtmlCommand(context: Context): Command {
  return (
    addRunFiles(new Command("html"))
      // Not the format, as elsewhere: there is only one.
      .option(
        "-o, --out <file>",
        "where the page goes; - for stdout; default: beside the record, as .html, and of stdin stdout",
      )
      .option("--open", "open the page in the browser")
      .action(async (files: string[], options: HtmlOptions) => html(files, options, context))
  );
}

async function html(
  files: readonly string[],
  { out, run, open }: HtmlOptions,
  { streams, stdin }: Context,
): Promise<void> {
  const { name, recording } = await readRun(files, run, stdin);
  const page = htmlOf(recording, { title: name });
  const [first = ""] = files;
  if (out === "-" || (out === undefined && first === "-")) return streams.out(page);
  const target = out ?? join(dirname(first), `${basename(first).replace(/(\.cards)?\.jsonl?$/, "")}.html`);
  await save(target, page);
  streams.out(`${target}\n`);
  if (open) openInBrowser(resolve(target), (why) => streams.err(`${why}\n`));
}
