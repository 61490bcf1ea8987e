import { Command } from "commander";
import { omitUndefined } from "../base/usage-checks/index.ts";
import type { CliContext } from "./cli-context.ts";
import { createUsageError } from "./cli-error.ts";
import { type ClientOptions, parseCount } from "./client-options.ts";
import { defineClientCommand, requireSingleId } from "./define-agent-command.ts";

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
        ...omitUndefined({ id, token }),
        ...(scheme === undefined
          ? {}
          : { authentication: { scheme, ...(credentials === undefined ? {} : { credentials }) } }),
      },
      { signal },
    );
    output.writePushConfig(config);
  });
}

export function createPushConfigGetCommand(context: CliContext): Command {
  return defineClientCommand<ClientOptions>(
    new Command("get"),
    "<task id> <config id> ",
    context,
    async (call) => {
      const { client, signal, output } = call;
      const [taskId, id] = requireTaskAndConfigIds(call.args);
      output.writePushConfig(await client.tasks.pushConfigs.get(taskId, id, { signal }));
    },
  );
}

interface PushConfigListOptions extends ClientOptions {
  pageSize?: number;
  pageToken?: string;
}

export function createPushConfigListCommand(context: CliContext): Command {
  const command = new Command("list")
    .option("--page-size <n>", "maximum number of configurations", parseCount)
    .option("--page-token <token>", "token of the page to show");
  return defineClientCommand<PushConfigListOptions>(command, "<task id> ", context, async (call) => {
    const { client, signal, options, output } = call;
    const { pageSize, pageToken } = options;
    const page = await client.tasks.pushConfigs.list(requireSingleId(call.args), {
      signal,
      ...omitUndefined({ pageSize, pageToken }),
    });
    output.writePushConfigList(page);
  });
}

/** Creates `colloquy task push-config delete`. Deleting an unknown push configuration is not an error. */
export function createPushConfigDeleteCommand(context: CliContext): Command {
  return defineClientCommand<ClientOptions>(
    new Command("delete"),
    "<task id> <config id> ",
    context,
    async (call) => {
      const { client, signal, output } = call;
      const [taskId, id] = requireTaskAndConfigIds(call.args);
      await client.tasks.pushConfigs.delete(taskId, id, { signal });
      output.writeResult({}, { Deleted: id });
    },
  );
}

/** Returns the task id and the push configuration id among the arguments, or throws a usage error. */
function requireTaskAndConfigIds(words: readonly string[]): [taskId: string, id: string] {
  const [taskId, id, ...rest] = words;
  if (taskId !== undefined && id !== undefined && rest.length === 0) return [taskId, id];
  throw createUsageError("Pass the ids of the task and of the configuration.");
}

interface PushConfigCreateOptions extends ClientOptions {
  url: string;
  id?: string;
  token?: string;
  scheme?: string;
  credentials?: string;
}
