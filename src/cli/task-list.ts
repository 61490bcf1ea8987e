import { Command, InvalidArgumentError } from "commander";
import { TASK_STATES, type TaskState } from "../protocol/index.ts";
import { clientCommand } from "./command.ts";
import type { Context } from "./context.ts";
import { count, type ClientOptions } from "./options.ts";

interface Options extends ClientOptions {
  contextId?: string;
  state?: TaskState;
  pageSize?: number;
  pageToken?: string;
  artifacts?: boolean;
}

export function taskListCommand(context: Context): Command {
  const command = new Command("list")
    .option("--context-id <id>", "only of this conversation")
    .option("--state <state>", "only in this state, for example working", state)
    .option("--page-size <n>", "at most this many, 1 to 100", count)
    .option("--page-token <token>", "go on behind this page")
    .option("--artifacts", "with their artifacts (in JSON)");
  return clientCommand<Options>(command, "", context, async ({ remote, signal, options, output }) => {
    const { contextId, state, pageSize, pageToken, artifacts } = options;
    const page = await remote.task.list(
      {
        ...(contextId === undefined ? {} : { contextId }),
        ...(state === undefined ? {} : { status: state }),
        ...(pageSize === undefined ? {} : { pageSize }),
        ...(pageToken === undefined ? {} : { pageToken }),
        ...(artifacts ? { includeArtifacts: true } : {}),
      },
      { signal },
    );
    output.tasks(page);
  });
}

/** `working`, `input-required` and the protocol's own names. */
function state(text: string): TaskState {
  const name = text
    .toUpperCase()
    .replaceAll("-", "_")
    .replace(/^(TASK_STATE_)?/, "TASK_STATE_");
  const known = TASK_STATES.find((candidate) => candidate === name);
  if (known) return known;
  const names = TASK_STATES.map((one) => one.slice("TASK_STATE_".length).toLowerCase().replaceAll("_", "-"));
  throw new InvalidArgumentError(`Known are ${names.join(", ")}.`);
}
