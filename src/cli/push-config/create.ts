import { Command } from "commander";
import { defineClientCommand, requireSingleId } from "../agent-command.ts";
import type { CliContext } from "../cli-context.ts";
import type { PushConfigCreateOptions } from "./options.ts";

export function createPushConfigCreateCommand(context: CliContext): Command {
  const command = new Command("create")
    .requiredOption("--url <url>", "the webhook that is posted to")
    .option(
      "--id <id>",
      "the configuration's id; one that is there is replaced (default: the agent's choice)",
    )
    .option("--token <token>", "sent with every post, so that the webhook knows who it is")
    .option("--scheme <name>", "how the agent authenticates to the webhook, for example Bearer")
    .option("--credentials <text>", "with what, for --scheme");
  return defineClientCommand<PushConfigCreateOptions>(command, "<task id> ", context, async (call) => {
    const { client, signal, options, output } = call;
    const { url, id, token, scheme, credentials } = options;
    const config = await client.tasks.pushConfigs.create(
      requireSingleId(call.args),
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
    output.writePushConfig(config);
  });
}
