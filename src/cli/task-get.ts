import { Command } from "commander";
import { clientCommand, onlyId } from "./command.ts";
import type { Context } from "./context.ts";
import { count, pollIntervalOption, type ClientOptions } from "./options.ts";
import { remark, waitForTask } from "./settle.ts";

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
    const task = options.wait
      ? await waitForTask(remote, id, { signal, options: { ...options, history: historyLength } })
      : await remote.task.get(id, { signal, historyLength });
    output.task(task, historyLength > 0);
    remark(output, ref, task);
  });
}
