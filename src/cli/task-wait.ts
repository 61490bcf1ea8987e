import { Command } from "commander";
import { clientCommand, gaveUp, onlyId, type Call } from "./command.ts";
import type { Context } from "./context.ts";
import { commandLine } from "./invocation.ts";
import { count, pollIntervalOption, type ClientOptions } from "./options.ts";
import { remark, waitForTask } from "./settle.ts";

interface Options extends ClientOptions {
  history?: number;
  pollInterval: number;
}

/** `task get --wait` by the name under which people look for it. */
export function taskWaitCommand(context: Context): Command {
  const command = new Command("wait")
    .option("--history <n>", "also show its last messages, at most this many", count)
    .addOption(pollIntervalOption());
  return clientCommand<Options>(command, "<task id> ", context, (call) =>
    waitAndShow(call, onlyId(call.words)),
  );
}

/** Looks again and again, and shows the task once there is nothing more to wait for. */
export async function waitAndShow(call: Call<Options>, id: string): Promise<void> {
  const { remote, ref, signal, options, output } = call;
  const history = options.history ?? 0;
  try {
    const task = await waitForTask(remote, id, { signal, options: { ...options, history } });
    output.task(task, history > 0);
    remark(output, ref, task);
  } catch (error) {
    throw signal.aborted ? gaveUp(call, error, commandLine("task", "get", ref, id, "--wait")) : error;
  }
}
