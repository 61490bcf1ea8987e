import { Command } from "commander";
import { defineClientCommand } from "../define-agent-command.ts";
import type { CliContext } from "../cli-context.ts";
import type { ClientOptions } from "../client-options.ts";
import { requireTaskAndConfigIds } from "./push-config-options.ts";

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
