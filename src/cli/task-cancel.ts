import { Command } from "commander";
import { clientCommand, onlyId } from "./command.ts";
import type { Context } from "./context.ts";
import type { ClientOptions } from "./options.ts";

export function taskCancelCommand(context: Context): Command {
  const command = new Command("cancel");
  return clientCommand<ClientOptions>(
    command,
    "<task id> ",
    context,
    async ({ remote, words, signal, output }) => {
      output.task(await remote.task.cancel(onlyId(words), { signal }));
    },
  );
}
