import { Command, InvalidArgumentError } from "commander";
import { TASK_STATES, type TaskState } from "../protocol/index.ts";
import { defineClientCommand } from "./define-agent-command.ts";
import type { CliContext } from "./cli-context.ts";
import { parseCount, type ClientOptions } from "./client-options.ts";

interface TaskListOptions extends ClientOptions {
  contextId?: string;
  state?: TaskState;
  pageSize?: number;
  pageToken?: string;
  artifacts?: boolean;
}

export function createTaskListCommand(context: CliContext): Command {
  const command = new Command("list")
    .option("--context-id <id>", "only tasks of this conversation")
    .option("--state <state>", "only tasks in this state, for example working", parseTaskState)
    .option("--page-size <n>", "maximum number of tasks, from 1 to 100", parseCount)
    .option("--page-token <token>", "token of the page to show")
    .option("--artifacts", "include artifacts (in JSON)");
  return defineClientCommand<TaskListOptions>(
    command,
    "",
    context,
    async ({ client, signal, options, output }) => {
      const { contextId, state, pageSize, pageToken, artifacts } = options;
      const page = await client.tasks.list(
        {
          ...(contextId === undefined ? {} : { contextId }),
          ...(state === undefined ? {} : { status: state }),
          ...(pageSize === undefined ? {} : { pageSize }),
          ...(pageToken === undefined ? {} : { pageToken }),
          ...(artifacts ? { includeArtifacts: true } : {}),
        },
        { signal },
      );
      output.writeTaskList(page);
    },
  );
}

/** Parses a task state such as `working` or `input-required`, or an A2A name such as `TASK_STATE_WORKING`. */
function parseTaskState(text: string): TaskState {
  const name = text
    .toUpperCase()
    .replaceAll("-", "_")
    .replace(/^(TASK_STATE_)?/, "TASK_STATE_");
  const known = TASK_STATES.find((candidate) => candidate === name);
  if (known) return known;
  const names = TASK_STATES.map((one) => one.slice("TASK_STATE_".length).toLowerCase().replaceAll("_", "-"));
  throw new InvalidArgumentError(`Allowed values are ${names.join(", ")}.`);
}
