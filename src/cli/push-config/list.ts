import { Command } from "commander";
import { defineClientCommand, requireSingleId } from "../define-agent-command.ts";
import type { CliContext } from "../cli-context.ts";
import { parseCount, type ClientOptions } from "../client-options.ts";

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
      ...(pageSize === undefined ? {} : { pageSize }),
      ...(pageToken === undefined ? {} : { pageToken }),
    });
    output.writePushConfigList(page);
  });
}
