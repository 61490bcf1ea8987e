import { Command, Option } from "commander";
import {
  encodeTrafficLine,
  renderTrafficMermaid,
  toTrafficOtlpTraces,
  toTrafficPerfettoTrace,
  type TrafficModel,
} from "../../observe/trace/index.ts";
import { writeOutputFile } from "../cards/write-output-file.ts";
import type { CliContext } from "../cli-context.ts";
import { renderJson } from "../text-writer.ts";
import { addTraceFilesArgument, loadTrafficRecord } from "./load-traffic-record.ts";
import { selectTaskLines, type SelectedTaskLines } from "./select-task-lines.ts";

interface TraceExportOptions {
  format: keyof typeof EXPORT_FORMAT_RENDERERS;
  task?: string;
  out?: string;
}

/** Renders the model of all lines, of which the export contains the selected tasks and lines. */
type RenderExport = (model: TrafficModel, selected: SelectedTaskLines) => string;

const EXPORT_FORMAT_RENDERERS = {
  otlp: (model, { taskKeys }) => `${renderJson(toTrafficOtlpTraces(model, taskKeys))}\n`,
  perfetto: (model, { taskKeys }) => `${renderJson(toTrafficPerfettoTrace(model, taskKeys))}\n`,
  mermaid: (model, { taskKeys }) => renderTrafficMermaid(model, taskKeys),
  jsonl: (_, { lines }) =>
    lines
      .map((decoded) =>
        decoded.type === "traffic"
          ? `${encodeTrafficLine(decoded.line)}\n`
          : decoded.type === "other"
            ? `${renderJson(decoded.json)}\n`
            : "",
      )
      .join(""),
} satisfies Record<string, RenderExport>;

export function createTraceExportCommand(context: CliContext): Command {
  return addTraceFilesArgument(new Command("export"))
    .addOption(
      new Option("--format <format>", "output format; jsonl contains the readable lines of all files")
        .choices(Object.keys(EXPORT_FORMAT_RENDERERS))
        .makeOptionMandatory(),
    )
    .option(
      "--task <id>",
      "only this task and the tasks that its agent started (default: all); the beginning of the id is enough",
    )
    .option("--out <file>", "output file, or - for stdout (default: stdout)")
    .action(async (files: string[], { format, task, out = "-" }: TraceExportOptions) => {
      const record = await loadTrafficRecord(files, context);
      const text = EXPORT_FORMAT_RENDERERS[format](record.model, selectTaskLines(record, task));
      if (out === "-") context.streams.outDocument(text);
      else await writeOutputFile(out, text);
    });
}
