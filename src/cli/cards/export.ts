import { Command, Option } from "commander";
import {
  exportSeed,
  graphMermaidOf,
  graphOf,
  graphSvgOf,
  mermaidOf,
  otlpOf,
  perfettoOf,
  type Recording,
  samplesOf,
  svgOf,
  traceabilityOf,
} from "../../cards/index.ts";
import type { Context } from "../context.ts";
import { jsonText } from "../text.ts";
import { addRunFiles, type RunFilesOptions } from "./options.ts";
import { onlySample, recordingOnly, sampleOption, type SampleOptions, samplesToShow } from "./samples.ts";
import { readRun } from "./read.ts";
import { save } from "./save.ts";

interface ExportOptions extends RunFilesOptions, SampleOptions {
  to: keyof typeof FORMS;
  out?: string;
  content?: boolean;
}

/** What a run can be written as. */
const FORMS = {
  "seed-json": (run: Recording) => listText(exportSeed(run)),
  perfetto: (run: Recording) => `${jsonText(perfettoOf(run))}\n`,
  "otlp-json": (run: Recording, content: boolean) => `${jsonText(otlpOf(run, { content }))}\n`,
  traceability: (run: Recording) => listText(traceabilityOf(run)),
  mermaid: (run: Recording) => mermaidOf(cardsOfOne(run)),
  svg: (run: Recording) => svgOf(cardsOfOne(run)),
  "graph-mermaid": (run: Recording) => graphMermaidOf(graphOf(run)),
  "graph-svg": (run: Recording) => graphSvgOf(graphOf(run)),
};

export function cardsExportCommand(context: Context): Command {
  return addRunFiles(new Command("export"))
    .addOption(
      new Option("--to <form>", "what to write it as").choices(Object.keys(FORMS)).makeOptionMandatory(),
    )
    .addOption(sampleOption())
    .option("--out <file>", "where to; otherwise it is printed")
    .option("--content", "otlp-json: what is on the cards too, not only who, when and how much")
    .action(async (files: string[], { run, sample, to, out, content = false }: ExportOptions) => {
      const { recording } = await readRun(files, run, context.stdin);
      const shown = recordingOnly(recording, samplesToShow(recording, sample));
      const text = FORMS[to](shown, content);
      if (out === undefined) context.streams.out(text);
      else await save(out, text);
    });
}

/** A sequence is of one problem. */
function cardsOfOne(run: Recording): ReturnType<typeof exportSeed> {
  return [...onlySample(samplesOf(run).filter(({ cards }) => cards.length > 0)).cards];
}

/** One on a line, for those who search in it. */
function listText(items: readonly object[]): string {
  return items.length > 0 ? `[\n${items.map((item) => jsonText(item)).join(",\n")}\n]\n` : "[]\n";
}
