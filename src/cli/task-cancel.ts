import { Command } from "commander";
import { A2AError, type Task } from "../protocol/index.ts";
import { clientCommand, onlyId, type Call } from "./command.ts";
import type { Context } from "./context.ts";
import { commandLine } from "./invocation.ts";
import type { ClientOptions } from "./options.ts";
import { Problem } from "./problem.ts";

export function taskCancelCommand(context: Context): Command {
  return clientCommand<ClientOptions>(new Command("cancel"), "<task id> ", context, async (call) => {
    call.output.task(await cancel(call, onlyId(call.words)));
  });
}

/** To cancel again is no mistake: a task that is canceled is what was wanted (a2a-cli SPEC §10.4). */
async function cancel({ remote, signal, ref }: Call<ClientOptions>, id: string): Promise<Task> {
  try {
    return await remote.task.cancel(id, { signal });
  } catch (error) {
    if (!(error instanceof A2AError) || error.reason !== "TASK_NOT_CANCELABLE") throw error;
    const task = await remote.task.get(id, { signal, historyLength: 0 });
    if (task.status.state === "TASK_STATE_CANCELED") return task;
    const hint = `${commandLine("task", "get", ref, id)} shows it; it is ${task.status.state}.`;
    throw new Problem(error, hint);
  }
}
