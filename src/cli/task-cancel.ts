import { Command } from "commander";
import { A2AError, type Task } from "../protocol/index.ts";
import { defineClientCommand, requireSingleId, type AgentCommandContext } from "./define-agent-command.ts";
import type { CliContext } from "./cli-context.ts";
import { formatColloquyCommand } from "./format-colloquy-command.ts";
import type { ClientOptions } from "./client-options.ts";
import { CliError } from "./cli-error.ts";

export function createTaskCancelCommand(context: CliContext): Command {
  return defineClientCommand<ClientOptions>(new Command("cancel"), "<task id> ", context, async (call) => {
    call.output.writeTask(await cancelTask(call, requireSingleId(call.args)));
  });
}

/** Canceling an already canceled task is not an error (a2a-cli SPEC §10.4). */
async function cancelTask(
  { client, signal, agentRef }: AgentCommandContext<ClientOptions>,
  id: string,
): Promise<Task> {
  try {
    return await client.tasks.cancel(id, { signal });
  } catch (error) {
    if (!(error instanceof A2AError) || error.reason !== "TASK_NOT_CANCELABLE") throw error;
    const task = await client.tasks.get(id, { signal, historyLength: 0 });
    if (task.status.state === "TASK_STATE_CANCELED") return task;
    const hint = `Its state is ${task.status.state}. ${formatColloquyCommand("task", "get", agentRef, id)} shows it.`;
    throw new CliError(error, hint);
  }
}
