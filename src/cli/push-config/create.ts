import { Command } from "commander";
import { clientCommand, onlyId } from "../command.ts";
import type { Context } from "../context.ts";
import type { CreateOptions } from "./options.ts";

export function pushConfigCreateCommand(context: Context): Command {
  const command = new Command("create")
    .requiredOption("--url <url>", "the webhook that is posted to")
    .option(
      "--id <id>",
      "the configuration's id; one that is there is replaced (default: the agent's choice)",
    )
    .option("--token <token>", "sent with every post, so that the webhook knows who it is")
    .option("--scheme <name>", "how the agent authenticates to the webhook, for example Bearer")
    .option("--credentials <text>", "with what, for --scheme");
  return clientCommand<CreateOptions>(command, "<task id> ", context, async (call) => {
    const { remote, signal, options, output } = call;
    const { url, id, token, scheme, credentials } = options;
    const config = await remote.task.push.create(
      onlyId(call.words),
      {
        url,
        ...(id === undefined ? {} : { id }),
        ...(token === undefined ? {} : { token }),
        ...(scheme === undefined
          ? {}
          : { authentication: { scheme, ...(credentials === undefined ? {} : { credentials }) } }),
      },
      { signal },
    );
    output.pushConfig(config);
  });
}
