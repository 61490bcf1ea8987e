import { Command } from "commander";
import {
  defineClientCommand,
  toInterruptedWaitError,
  requireSingleId,
  type AgentCommandContext,
} from "./define-agent-command.ts";
import type { CliContext } from "./cli-context.ts";
import { formatColloquyCommand } from "./format-colloquy-command.ts";
import { parseCount, createPollIntervalOption, type ClientOptions } from "./client-options.ts";
import { warnAboutUncompletedTask, waitForTask } from "./wait-for-task.ts";

interface TaskWaitOptions extends ClientOptions {
  history?: number;
  pollInterval: number;
  untilAuthorized?: boolean;
}

/** Creates `colloquy task wait`, which waits like `task get --wait`. */
export function createTaskWaitCommand(context: CliContext): Command {
  const command = new Command("wait")
    .option(
      "--until-authorized",
      "also wait while the task needs an authorization that you grant outside of A2A (AUTH_REQUIRED)",
    )
    .option("--history <n>", "also show up to this many of the last messages", parseCount)
    .addOption(createPollIntervalOption());
  return defineClientCommand<TaskWaitOptions>(command, "<task id> ", context, (call) =>
    waitAndWriteTask(call, requireSingleId(call.args)),
  );
}

/** Polls a task until the task has ended or needs input, and then writes the task to stdout. */
export async function waitAndWriteTask(
  call: AgentCommandContext<TaskWaitOptions>,
  id: string,
): Promise<void> {
  const { client, agentRef, signal, options, output } = call;
  const history = options.history ?? 0;
  try {
    const task = await waitForTask(client, id, { signal, options: { ...options, history } });
    output.writeTask(task, history > 0);
    warnAboutUncompletedTask(output, agentRef, task);
  } catch (error) {
    throw signal.aborted
      ? toInterruptedWaitError(call, error, formatColloquyCommand("task", "get", agentRef, id, "--wait"))
      : error;
  }
}
