import { Command } from "commander";
import { clientCommand, onlyId } from "./command.ts";
import type { Context } from "./context.ts";
import { count, pollIntervalOption, type ClientOptions } from "./options.ts";
import { remark } from "./settle.ts";
import { waitAndShow } from "./task-wait.ts";

interface Options extends ClientOptions {
  wait?: boolean;
  history?: number;
  pollInterval: number;
}

export function taskGetCommand(context: Context): Command {
  const command = new Command("get")
    .option("--wait", "look again until it has ended or waits for its user (default: look once)")
    .option("--history <n>", "also show its last messages, at most this many", count)
    .addOption(pollIntervalOption());
  return clientCommand<Options>(command, "<task id> ", context, async (call) => {
    const { remote, ref, signal, options, output } = call;
    const id = onlyId(call.words);
    // History is shown when it is asked for.
    const historyLength = options.history ?? 0;
    if (options.wait) return waitAndShow(call, id);
    const task = await remote.task.get(id, { signal, historyLength });
    output.task(task, historyLength > 0);
    remark(output, ref, task);
  });
}
