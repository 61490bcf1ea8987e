import { basename, dirname, join, resolve } from "node:path";
import { Command } from "commander";
import { decodeRecordLine } from "../../cards/index.ts";
import { renderTrafficRecord } from "../../studio/pages/index.ts";
import { openInBrowser } from "../open-in-browser.ts";
import { writeOutputFile } from "../cards/write-output-file.ts";
import type { CliContext } from "../cli-context.ts";
import { createUsageError } from "../cli-error.ts";
import type { TrafficLine } from "../../observe/trace/index.ts";
import type { ReadTrafficLine } from "../../observe/trace/recording/index.ts";
import { addTraceFilesArgument, loadTrafficRecord } from "./load-traffic-record.ts";
import { createPriceOption, type PriceOption } from "./price-option.ts";
import { selectTaskLines } from "./select-task-lines.ts";

interface TraceHtmlOptions extends PriceOption {
  task?: string;
  out?: string;
  open?: boolean;
}

/** Maximum length of the lines of a page in characters. Chromium opens a page of 50 million characters in 3 seconds. */
const MAX_PAGE_LENGTH = 200_000_000;

export function createTraceHtmlCommand(context: CliContext): Command {
  return (
    addTraceFilesArgument(new Command("html"))
      // Elsewhere `-o` selects the output format. This command has only one format.
      .option(
        "-o, --out <file>",
        "output file, or - for stdout (default: the name of the first record with .html)",
      )
      .option(
        "--task <id>",
        "only this task and the tasks that its agent started (default: all); the beginning of the id is enough",
      )
      .option("--open", "open the page in the browser")
      .addOption(createPriceOption())
      .action(async (files: string[], options: TraceHtmlOptions) =>
        writeTrafficRecordPage(files, options, context),
      )
  );
}

async function writeTrafficRecordPage(
  files: readonly string[],
  { task, out, open, prices }: TraceHtmlOptions,
  context: CliContext,
): Promise<void> {
  const { streams } = context;
  const [first = ""] = files;
  const record = await loadTrafficRecord(files, context, prices);
  const { lines } = selectTaskLines(record, task);
  const html = renderTrafficRecord(listPageLines(lines, task), { title: basename(first) });
  if (out === "-") return streams.outDocument(html);
  const target = out ?? join(dirname(first), `${basename(first).replace(/\.jsonl?(?:\.gz)?$/, "")}.html`);
  await writeOutputFile(target, html);
  streams.out(`${target}\n`);
  if (open) openInBrowser(resolve(target), (why) => streams.err(`${why}\n`));
}

/** Returns the lines of a page, also those of earlier formats. Refuses more lines than a browser can open. */
function listPageLines(lines: readonly ReadTrafficLine[], taskId: string | undefined): TrafficLine[] {
  let length = 0;
  const pageLines = lines.flatMap((decoded): TrafficLine[] => {
    if (decoded.type === "unreadable") return [];
    const isTraffic = decoded.type === "traffic";
    const line = isTraffic ? decoded.line : decodeRecordLine(JSON.stringify(decoded.json));
    length += decoded.length;
    return line && !("torn" in line) ? [line] : [];
  });
  if (length <= MAX_PAGE_LENGTH) return pageLines;
  throw createUsageError(
    `The lines have ${formatMillions(length)} characters, and a page has at most ${formatMillions(MAX_PAGE_LENGTH)}.`,
    taskId === undefined
      ? "Select a task with --task, or pass fewer files."
      : "Select a smaller task with --task, or use colloquy trace show.",
  );
}

function formatMillions(count: number): string {
  return `${Math.round(count / 1e6)} million`;
}
