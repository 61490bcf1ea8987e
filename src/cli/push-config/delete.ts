import { Command } from "commander";
import { defineClientCommand } from "../define-agent-command.ts";
import type { CliContext } from "../cli-context.ts";
import type { ClientOptions } from "../client-options.ts";
import { requireTaskAndConfigIds } from "./push-config-options.ts";

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
