import { basename, dirname, join, resolve } from "node:path";
import { Command } from "commander";
import { renderHtmlReport } from "../../studio/pages/index.ts";
import type { CliContext } from "../cli-context.ts";
import { openInBrowser } from "../open-in-browser.ts";
import { addRunFilesArgument, type CardsCommandOptions, readRun } from "./read-runs.ts";
import { writeOutputFile } from "./write-output-file.ts";

interface HtmlOptions extends CardsCommandOptions {
  out?: string;
  open?: boolean;
}

export function createCardsHtmlCommand(context: CliContext): Command {
  return (
    addRunFilesArgument(new Command("html"))
      // Elsewhere `-o` selects the output format. This command has only one format.
      .option(
        "-o, --out <file>",
        "output file, or - for stdout (default: the recording's name with .html; stdout for stdin)",
      )
      .option("--open", "open the page in the browser")
      .action(async (files: string[], options: HtmlOptions) => writeHtmlPage(files, options, context))
  );
}

async function writeHtmlPage(
  files: readonly string[],
  { out, run, open }: HtmlOptions,
  { streams, stdin }: CliContext,
): Promise<void> {
  const { name, recording } = await readRun(files, run, stdin);
  const html = renderHtmlReport(recording, { title: name });
  const [first = ""] = files;
  if (out === "-" || (out === undefined && first === "-")) return streams.outDocument(html);
  const target = out ?? join(dirname(first), `${basename(first).replace(/(\.cards)?\.jsonl?$/, "")}.html`);
  await writeOutputFile(target, html);
  streams.out(`${target}\n`);
  if (open) openInBrowser(resolve(target), (why) => streams.err(`${why}\n`));
}
