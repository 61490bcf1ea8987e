import { Command } from "commander";
import { defineClientCommand, requireSingleId } from "./define-agent-command.ts";
import type { CliContext } from "./cli-context.ts";
import { parseCount, createPollIntervalOption, type ClientOptions } from "./client-options.ts";
import { warnAboutUncompletedTask } from "./wait-for-task.ts";
import { waitAndWriteTask } from "./task-wait.ts";

interface TaskGetOptions extends ClientOptions {
  wait?: boolean;
  history?: number;
  pollInterval: number;
}

export function createTaskGetCommand(context: CliContext): Command {
  const command = new Command("get")
    .option("--wait", "poll until the task ends or needs input (default: check once)")
    .option("--history <n>", "also show up to this many of the last messages", parseCount)
    .addOption(createPollIntervalOption());
  return defineClientCommand<TaskGetOptions>(command, "<task id> ", context, async (call) => {
    const { client, agentRef, signal, options, output } = call;
    const id = requireSingleId(call.args);
    // The history is shown only with `--history`.
    const historyLength = options.history ?? 0;
    if (options.wait) return waitAndWriteTask(call, id);
    const task = await client.tasks.get(id, { signal, historyLength });
    output.writeTask(task, historyLength > 0);
    warnAboutUncompletedTask(output, agentRef, task);
  });
}
