import { Command } from "commander";
import {
  defineClientCommand,
  toInterruptedWaitError,
  requireSingleId,
  type AgentCommandContext,
} from "./agent-command.ts";
import type { CliContext } from "./cli-context.ts";
import { formatCommandLine } from "./command-line.ts";
import { parseCount, createPollIntervalOption, type ClientOptions } from "./client-options.ts";
import { reportTaskState, waitForTask } from "./wait-for-task.ts";

interface TaskWaitOptions extends ClientOptions {
  history?: number;
  pollInterval: number;
}

/** `task get --wait` by the name under which people look for it. */
export function createTaskWaitCommand(context: CliContext): Command {
  const command = new Command("wait")
    .option("--history <n>", "also show its last messages, at most this many", parseCount)
    .addOption(createPollIntervalOption());
  return defineClientCommand<TaskWaitOptions>(command, "<task id> ", context, (call) =>
    waitAndWriteTask(call, requireSingleId(call.args)),
  );
}

/** Looks again and again, and shows the task once there is nothing more to wait for. */
export async function waitAndWriteTask(
  call: AgentCommandContext<TaskWaitOptions>,
  id: string,
): Promise<void> {
  const { client: remote, agentRef: ref, signal, options, output } = call;
  const history = options.history ?? 0;
  try {
    const task = await waitForTask(remote, id, { signal, options: { ...options, history } });
    output.writeTask(task, history > 0);
    reportTaskState(output, ref, task);
  } catch (error) {
    throw signal.aborted
      ? toInterruptedWaitError(call, error, formatCommandLine("task", "get", ref, id, "--wait"))
      : error;
  }
}
