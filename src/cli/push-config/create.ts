import { Command } from "commander";
import { defineClientCommand, requireSingleId } from "../define-agent-command.ts";
import type { CliContext } from "../cli-context.ts";
import type { PushConfigCreateOptions } from "./push-config-options.ts";

export function createPushConfigCreateCommand(context: CliContext): Command {
  const command = new Command("create")
    .requiredOption("--url <url>", "URL of the webhook")
    .option("--id <id>", "id of the configuration; replaces an existing one (default: chosen by the agent)")
    .option("--token <token>", "token sent with every notification, which the webhook can check")
    .option("--scheme <name>", "authentication scheme for the webhook, for example Bearer")
    .option("--credentials <text>", "credentials for --scheme");
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
