import { basename, dirname, join, resolve } from "node:path";
import { Command } from "commander";
import { decodeRecording, type Recording } from "../../cards/index.ts";
import { renderTrafficRecord } from "../../pages/index.ts";
import { openInBrowser } from "../cards/open-in-browser.ts";
import { writeOutputFile } from "../cards/write-output-file.ts";
import type { CliContext } from "../cli-context.ts";
import { addTraceFilesArgument, type LoadedTrafficRecord, loadTrafficRecord } from "./load-traffic-record.ts";
import { createPriceOption, type PriceOption } from "./price-option.ts";

interface TraceHtmlOptions extends PriceOption {
  out?: string;
  open?: boolean;
}

export function createTraceHtmlCommand(context: CliContext): Command {
  return (
    addTraceFilesArgument(new Command("html"))
      // Elsewhere `-o` selects the output format. This command has only one format.
      .option(
        "-o, --out <file>",
        "output file, or - for stdout (default: the name of the first record with .html)",
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
  { out, open, prices }: TraceHtmlOptions,
  context: CliContext,
): Promise<void> {
  const { streams } = context;
  const [first = ""] = files;
  const record = await loadTrafficRecord(files, context, prices);
  const recording = decodeCardLines(record, first);
  const html = renderTrafficRecord(
    record.lines.flatMap((decoded) => (decoded.type === "traffic" ? [decoded.line] : [])),
    { title: basename(first), ...(recording && { recording }) },
  );
  if (out === "-") return streams.outDocument(html);
  const target = out ?? join(dirname(first), `${basename(first).replace(/\.jsonl?(?:\.gz)?$/, "")}.html`);
  await writeOutputFile(target, html);
  streams.out(`${target}\n`);
  if (open) openInBrowser(resolve(target), (why) => streams.err(`${why}\n`));
}

/** Decodes the lines of the card protocol, or returns `undefined` if the record has none. */
function decodeCardLines({ lines }: LoadedTrafficRecord, file: string): Recording | undefined {
  const cardLines = lines.flatMap((decoded) =>
    decoded.type === "other" && typeof decoded.json["run_id"] === "string"
      ? [`${JSON.stringify(decoded.json)}\n`]
      : [],
  );
  return cardLines.length === 0 ? undefined : decodeRecording(cardLines.join(""), file);
}
