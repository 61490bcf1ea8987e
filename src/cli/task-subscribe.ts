import { Command } from "commander";
import { collect } from "../client/index.ts";
import { clientCommand, onlyId } from "./command.ts";
import type { Context } from "./context.ts";
import type { ClientOptions } from "./options.ts";
import { remark, untilSettled } from "./settle.ts";
import { show } from "./show.ts";

interface Options extends ClientOptions {
  after?: string;
}

export function taskSubscribeCommand(context: Context): Command {
  const command = new Command("subscribe").option("--after <event id>", "only what came after this event");
  return clientCommand<Options>(command, "<task id> ", context, async (call) => {
    const { remote, ref, signal, options, output } = call;
    const after = options.after === undefined ? {} : { after: options.after };
    const stream = remote.task.subscribe(onlyId(call.words), { signal, ...after });
    // To follow is what the command is for; in text it does so without being told.
    if (options.stream || options.output === "text") return show(stream, call);
    const response = await collect(untilSettled(stream));
    if (!("task" in response)) return;
    output.task(response.task);
    remark(output, ref, response.task);
  });
}
