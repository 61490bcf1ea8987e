import { Command, Option } from "commander";
import {
  encodeTrafficLine,
  renderTrafficMermaid,
  toTrafficOtlpTraces,
  toTrafficPerfettoTrace,
  type TrafficModel,
} from "../../trace/index.ts";
import { writeOutputFile } from "../cards/write-output-file.ts";
import type { CliContext } from "../cli-context.ts";
import { renderJson } from "../text-writer.ts";
import {
  addTraceFilesArgument,
  loadTrafficRecord,
  requireTask,
  type LoadedTrafficRecord,
} from "./load-traffic-record.ts";

interface TraceExportOptions {
  format: keyof typeof EXPORT_FORMAT_RENDERERS;
  task?: string;
  out?: string;
}

/** Export formats. `tasks` selects tasks, or is `undefined` for all tasks. */
const EXPORT_FORMAT_RENDERERS = {
  otlp: ({ model }: LoadedTrafficRecord) => `${renderJson(toTrafficOtlpTraces(model))}\n`,
  perfetto: ({ model }: LoadedTrafficRecord) => `${renderJson(toTrafficPerfettoTrace(model))}\n`,
  mermaid: ({ model }: LoadedTrafficRecord, tasks: ReadonlySet<string> | undefined) =>
    renderTrafficMermaid(model, tasks),
  jsonl: ({ lines }: LoadedTrafficRecord) =>
    lines
      .map((decoded) =>
        decoded.type === "traffic"
          ? `${encodeTrafficLine(decoded.line)}\n`
          : decoded.type === "other"
            ? `${renderJson(decoded.json)}\n`
            : "",
      )
      .join(""),
};

export function createTraceExportCommand(context: CliContext): Command {
  return addTraceFilesArgument(new Command("export"))
    .addOption(
      new Option("--format <format>", "output format; jsonl contains the readable lines of all files")
        .choices(Object.keys(EXPORT_FORMAT_RENDERERS))
        .makeOptionMandatory(),
    )
    .option("--task <id>", "with mermaid: only this task and the tasks that its agent started")
    .option("--out <file>", "output file (default: stdout)")
    .action(async (files: string[], { format, task, out }: TraceExportOptions) => {
      const record = await loadTrafficRecord(files, context);
      const tasks =
        task === undefined ? undefined : listTaskTree(record.model, requireTask(record.model, task).key);
      const text = EXPORT_FORMAT_RENDERERS[format](record, tasks);
      if (out === undefined) context.streams.outDocument(text);
      else await writeOutputFile(out, text);
    });
}

/** Returns the keys of a task and of all tasks below it. */
function listTaskTree(model: TrafficModel, rootKey: string): ReadonlySet<string> {
  const keys = new Set([rootKey]);
  // A set also iterates over the keys that are added during the iteration.
  for (const key of keys)
    for (const { taskKey, parentTaskKey } of model.exchanges)
      if (parentTaskKey === key && taskKey !== undefined) keys.add(taskKey);
  return keys;
}
