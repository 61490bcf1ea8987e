import { Command, Option } from "commander";
import {
  toSpecificationCards,
  renderRoleGraphMermaid,
  buildRoleGraph,
  renderRoleGraphSvg,
  renderSequenceMermaid,
  toOtlpTraces,
  toPerfettoTrace,
  type Recording,
  collectRunSamples,
  renderSequenceSvg,
  toResponseTraces,
} from "../../cards/index.ts";
import type { CliContext } from "../cli-context.ts";
import { renderJson } from "../text-writer.ts";
import { addRunFilesArgument, type RunFilesOptions } from "./cards-options.ts";
import {
  requireSingleSample,
  filterRecording,
  createSampleOption,
  type SampleOptions,
  selectSamples,
} from "./sample-selection.ts";
import { readRun } from "./read-runs.ts";
import { writeOutputFile } from "./write-output-file.ts";

interface ExportOptions extends RunFilesOptions, SampleOptions {
  to: keyof typeof EXPORT_FORMATS;
  out?: string;
  content?: boolean;
}

/** Export formats for a recorded experiment run. */
const EXPORT_FORMATS = {
  "seed-json": (run: Recording) => renderJsonList(toSpecificationCards(run)),
  perfetto: (run: Recording) => `${renderJson(toPerfettoTrace(run))}\n`,
  "otlp-json": (run: Recording, content: boolean) =>
    `${renderJson(toOtlpTraces(run, { includeContent: content }))}\n`,
  traceability: (run: Recording) => renderJsonList(toResponseTraces(run)),
  mermaid: (run: Recording) => renderSequenceMermaid(getSingleSampleCards(run)),
  svg: (run: Recording) => renderSequenceSvg(getSingleSampleCards(run)),
  "graph-mermaid": (run: Recording) => renderRoleGraphMermaid(buildRoleGraph(run)),
  "graph-svg": (run: Recording) => renderRoleGraphSvg(buildRoleGraph(run)),
};

export function createCardsExportCommand(context: CliContext): Command {
  return addRunFilesArgument(new Command("export"))
    .addOption(
      new Option("--to <form>", "the output format")
        .choices(Object.keys(EXPORT_FORMATS))
        .makeOptionMandatory(),
    )
    .addOption(createSampleOption())
    .option("--out <file>", "output file (default: stdout)")
    .option("--content", "include the content of cards in otlp-json")
    .action(async (files: string[], { run, sample, to, out, content = false }: ExportOptions) => {
      const { recording } = await readRun(files, run, context.stdin);
      const selection = filterRecording(recording, selectSamples(recording, sample));
      const text = EXPORT_FORMATS[to](selection, content);
      if (out === undefined) context.streams.out(text);
      else await writeOutputFile(out, text);
    });
}

/**
 * Returns the message cards of a recording that contains only one problem. A sequence diagram can show only
 * one problem.
 */
function getSingleSampleCards(run: Recording): ReturnType<typeof toSpecificationCards> {
  return [...requireSingleSample(collectRunSamples(run).filter(({ cards }) => cards.length > 0)).cards];
}

/** Renders a JSON list with one element on each line, so that tools such as `grep` can search the list. */
function renderJsonList(items: readonly object[]): string {
  return items.length > 0 ? `[\n${items.map((item) => renderJson(item)).join(",\n")}\n]\n` : "[]\n";
}
