import { Command } from "commander";
import { collect } from "../client/index.ts";
import { defineClientCommand, requireSingleId } from "./define-agent-command.ts";
import type { CliContext } from "./cli-context.ts";
import type { ClientOptions } from "./client-options.ts";
import { warnAboutUncompletedTask, yieldUntilTerminalOrInterrupted } from "./wait-for-task.ts";
import { writeStreamEvents } from "./write-stream-events.ts";

interface TaskSubscribeOptions extends ClientOptions {
  after?: string;
}

export function createTaskSubscribeCommand(context: CliContext): Command {
  const command = new Command("subscribe").option("--after <event id>", "only events after this one");
  return defineClientCommand<TaskSubscribeOptions>(command, "<task id> ", context, async (call) => {
    const { client, agentRef, signal, options, output } = call;
    const after = options.after === undefined ? {} : { after: options.after };
    const stream = client.tasks.subscribe(requireSingleId(call.args), { signal, ...after });
    // In text format the command always streams, because following a task is its purpose.
    if (options.stream || options.output === "text") return writeStreamEvents(stream, call);
    const response = await collect(yieldUntilTerminalOrInterrupted(stream));
    if (!("task" in response)) return;
    output.writeTask(response.task);
    warnAboutUncompletedTask(output, agentRef, response.task);
  });
}
