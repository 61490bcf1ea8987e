import { Command } from "commander";
import { clientCommand } from "../command.ts";
import type { Context } from "../context.ts";
import type { ClientOptions } from "../options.ts";
import { twoIds } from "./options.ts";

export function pushConfigGetCommand(context: Context): Command {
  return clientCommand<ClientOptions>(new Command("get"), "<task id> <config id> ", context, async (call) => {
    const { remote, signal, output } = call;
    const [taskId, id] = twoIds(call.words);
    output.pushConfig(await remote.task.push.get(taskId, id, { signal }));
  });
}
