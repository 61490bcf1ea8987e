import { Command } from "commander";
import {
  computeTaskCriticalPath,
  renderTaskTimeline,
  renderTrafficOverview,
  summarizeTask,
} from "../../observe/trace/index.ts";
import type { CliContext } from "../cli-context.ts";
import { OutputWriter } from "../output-writer.ts";
import {
  addTraceFilesArgument,
  addTraceOutputOptions,
  loadTrafficRecord,
  requireTask,
  type TraceOutputOptions,
} from "./load-traffic-record.ts";
import { createPriceOption, type PriceOption } from "./price-option.ts";

interface TraceShowOptions extends TraceOutputOptions, PriceOption {
  task?: string;
}

export function createTraceShowCommand(context: CliContext): Command {
  return addTraceOutputOptions(addTraceFilesArgument(new Command("show")))
    .option("--task <id>", "show the timeline of this task; the beginning of the id is enough")
    .addOption(createPriceOption())
    .action(async (files: string[], { task: taskId, output, prices }: TraceShowOptions) => {
      const { model, clockShiftsMs } = await loadTrafficRecord(files, context, prices);
      const writer = new OutputWriter(context.streams, output);
      if (taskId === undefined) {
        if (output === "json")
          writer.writeJson({
            tasks: [...model.tasks.values()].map((task) => ({
              ...summarizeTask(model, task),
              parent: model.findParentTaskKey(task.key),
            })),
            exchanges: model.exchanges.map(({ calls, ...exchange }) => ({
              ...exchange,
              calls: calls.map(({ key }) => key),
            })),
            clockShiftsMs: Object.fromEntries(clockShiftsMs),
          });
        else context.streams.out(renderTrafficOverview(model));
        return;
      }
      const task = requireTask(model, taskId);
      if (output === "json")
        writer.writeJson({
          ...summarizeTask(model, task),
          timeline: task.timeline,
          readers: task.readers,
          criticalPath: computeTaskCriticalPath(model, task),
        });
      else context.streams.out(renderTaskTimeline(model, task));
    });
}
