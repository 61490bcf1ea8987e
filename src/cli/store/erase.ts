import { omitUndefined } from "../../base/usage-checks/index.ts";
import { Command } from "commander";
import { systemClock } from "../../engine/index.ts";
import type { TaskSelector } from "../../stores/index.ts";
import { RetentionService } from "../../stores/retention/index.ts";
import type { CliContext } from "../cli-context.ts";
import { createUsageError } from "../cli-error.ts";
import type { OutputWriter } from "../output-writer.ts";
import { eraseDefaultRecord } from "../dev/default-record.ts";
import { callMaintenanceIfServed } from "./maintenance-client.ts";
import { defineStoreCommand, openUnservedStore } from "./store-commands.ts";

const POSTGRES_HINT = "Call server.maintenance.eraseTasks in a program that uses the database.";

interface StoreEraseOptions {
  task?: string;
  context?: string;
  principal?: string;
  tenant?: string;
  agent?: string;
}

export function createStoreEraseCommand(context: CliContext): Command {
  const command = new Command("erase")
    .option("--task <id>", "erase the task with this id")
    .option("--context <id>", "erase all tasks of this context")
    .option("--principal <name>", "erase all tasks of this principal")
    .option("--tenant <name>", "erase only tasks of this tenant")
    .option("--agent <id>", "erase only tasks of this agent")
    .addHelpText(
      "after",
      `
A task must match all options. Running agents of the tasks are canceled first. The record of colloquy dev and
colloquy demo next to the store is emptied.`,
    );
  return defineStoreCommand<StoreEraseOptions>(
    command,
    context,
    POSTGRES_HINT,
    async ({ file, options, output }) => {
      const selector = toTaskSelector(options);
      const { erasedTasks } =
        (await callMaintenanceIfServed<{ erasedTasks: number }>(file, "erase", selector)) ??
        (await eraseInUnusedFile(file, selector, output));
      await eraseDefaultRecord(file);
      output.writeResult({ erasedTasks }, { "Erased tasks": String(erasedTasks) });
    },
  );
}

function toTaskSelector({ task, context, principal, tenant, agent }: StoreEraseOptions): TaskSelector {
  if (task === undefined && context === undefined && principal === undefined)
    throw createUsageError("No tasks are selected. Pass --task, --context, or --principal.");
  return {
    ...omitUndefined({ taskId: task, contextId: context, principal, tenant, agent }),
  };
}

/** Erases tasks of a store that no server uses, so that no agent works on the tasks. */
async function eraseInUnusedFile(
  file: string,
  selector: TaskSelector,
  output: OutputWriter,
): Promise<{ erasedTasks: number }> {
  const store = await openUnservedStore(file, output);
  try {
    const retention = new RetentionService({
      deletionStore: store.deletionStore,
      retention: false,
      clock: systemClock,
      observer: {},
      isTaskInUse: () => false,
      endTask: async () => {},
      onTaskErased: () => {},
    });
    return { erasedTasks: await retention.erase(selector) };
  } finally {
    await store.close();
  }
}
