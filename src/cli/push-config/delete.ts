import { Command } from "commander";
import { clientCommand } from "../command.ts";
import type { Context } from "../context.ts";
import type { ClientOptions } from "../options.ts";
import { twoIds } from "./options.ts";

/** Deleting what is not there is no error. */
export function pushConfigDeleteCommand(context: Context): Command {
  return clientCommand<ClientOptions>(
    new Command("delete"),
    "<task id> <config id> ",
    context,
    async (call) => {
      const { remote, signal, output } = call;
      const [taskId, id] = twoIds(call.words);
      await remote.task.push.delete(taskId, id, { signal });
      output.facts({}, { Deleted: id });
    },
  );
}
