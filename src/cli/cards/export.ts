import { Command, Option } from "commander";
import {
  renderSequenceMermaid,
  type Recording,
  getScoreOutcome,
  summarizeTokens,
  toDict,
} from "../../cards/index.ts";
import type { CliContext } from "../cli-context.ts";
import { renderJson } from "../text-writer.ts";
import { addRunFilesArgument, type RunSelectionOptions } from "./cards-command-options.ts";
import {
  requireSingleSample,
  filterRecording,
  createSampleOption,
  type SampleSelectionOptions,
  selectRecordedSamples,
} from "./sample-selection.ts";
import { renderFaultAttribution } from "./render-fault-attribution.ts";
import { renderInspectLog } from "./render-inspect-log.ts";
import { readRun } from "./read-runs.ts";
import { writeOutputFile } from "./write-output-file.ts";

interface ExportOptions extends RunSelectionOptions, SampleSelectionOptions {
  to: keyof typeof EXPORT_FORMAT_RENDERERS;
  out?: string;
}

/** Export formats for a recorded experiment run. */
const EXPORT_FORMAT_RENDERERS = {
  "seed-json": (run: Recording) => renderJsonListByLine(run.cards.map((card) => toDict(card))),
  csv: renderProblemsAsCsv,
  inspect: renderInspectLog,
  "who-and-when": renderFaultAttribution,
  mermaid: ({ samples }: Recording) =>
    renderSequenceMermaid(requireSingleSample(samples.filter(({ cards }) => cards.length > 0)).cards),
};

export function createCardsExportCommand(context: CliContext): Command {
  return addRunFilesArgument(new Command("export"))
    .addOption(
      new Option("--to <form>", "the output format")
        .choices(Object.keys(EXPORT_FORMAT_RENDERERS))
        .makeOptionMandatory(),
    )
    .addOption(createSampleOption())
    .option("--out <file>", "output file (default: stdout)")
    .action(async (files: string[], { run, sample, to, out }: ExportOptions) => {
      const { recording } = await readRun(files, run, context.stdin);
      const selection = filterRecording(recording, selectRecordedSamples(recording, sample));
      const text = EXPORT_FORMAT_RENDERERS[to](selection);
      if (out === undefined) context.streams.outDocument(text);
      else await writeOutputFile(out, text);
    });
}

/** Renders one line for each problem, with its answer, outcome, and tokens. Unknown tokens are empty. */
function renderProblemsAsCsv(run: Recording): string {
  const head = "sample_id,question,gold,predicted,correct,outcome,error,turns,input_tokens,output_tokens";
  const rows = run.samples.flatMap(({ id, cards, score, skip }) => {
    if (id === undefined) return [];
    const { sum, unknownCards } = summarizeTokens(cards);
    const tokens = unknownCards > 0 ? [undefined, undefined] : [sum.input, sum.output];
    const outcome = score ? getScoreOutcome(score) : skip ? "skipped" : "unfinished";
    const { gold, predicted, correct, error = skip?.error, turns } = score ?? {};
    return [[id, cards[0]?.content, gold, predicted, correct, outcome, error, turns, ...tokens]];
  });
  return [head, ...rows.map((row) => row.map(quoteCsvField).join(","))].map((line) => `${line}\r\n`).join("");
}

function quoteCsvField(value: string | number | boolean | undefined): string {
  const text = String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Renders a JSON list with one element on each line, so that tools such as `grep` can search the list. */
function renderJsonListByLine(items: readonly object[]): string {
  return items.length > 0 ? `[\n${items.map((item) => renderJson(item)).join(",\n")}\n]\n` : "[]\n";
}
