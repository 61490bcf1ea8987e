import { Command } from "commander";
import { clientCommand, onlyId } from "../command.ts";
import type { Context } from "../context.ts";
import { count, type ClientOptions } from "../options.ts";

interface Options extends ClientOptions {
  pageSize?: number;
  pageToken?: string;
}

export function pushConfigListCommand(context: Context): Command {
  const command = new Command("list")
    .option("--page-size <n>", "at most this many", count)
    .option("--page-token <token>", "go on behind this page");
  return clientCommand<Options>(command, "<task id> ", context, async (call) => {
    const { remote, signal, options, output } = call;
    const { pageSize, pageToken } = options;
    const page = await remote.task.push.list(onlyId(call.words), {
      signal,
      ...(pageSize === undefined ? {} : { pageSize }),
      ...(pageToken === undefined ? {} : { pageToken }),
    });
    output.pushConfigs(page);
  });
}
