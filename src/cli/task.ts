import { Command, InvalidArgumentError } from "commander";
import { omitUndefined } from "../base/usage-checks/index.ts";
import { collect } from "../client/index.ts";
import { A2AError, type Task, TASK_STATES, type TaskState } from "../protocol/index.ts";
import type { CliContext } from "./cli-context.ts";
import { CliError } from "./cli-error.ts";
import { type ClientOptions, createPollIntervalOption, parseCount } from "./client-options.ts";
import {
  type AgentCommandContext,
  defineClientCommand,
  requireSingleId,
  toInterruptedWaitError,
} from "./define-agent-command.ts";
import { formatColloquyCommand } from "./format-colloquy-command.ts";
import { waitForTask, warnAboutUncompletedTask, yieldUntilTerminalOrInterrupted } from "./wait-for-task.ts";
import { writeStreamEvents } from "./write-stream-events.ts";

interface TaskGetOptions extends ClientOptions {
  wait?: boolean;
  history?: number;
  pollInterval: number;
}

export function createTaskGetCommand(context: CliContext): Command {
  const command = new Command("get")
    .option("--wait", "poll until the task ends or needs input (default: check once)")
    .option("--history <n>", "also show up to this many of the last messages", parseCount)
    .addOption(createPollIntervalOption());
  return defineClientCommand<TaskGetOptions>(command, "<task id> ", context, async (call) => {
    const { client, agentRef, signal, options, output } = call;
    const id = requireSingleId(call.args);
    // The history is shown only with `--history`.
    const historyLength = options.history ?? 0;
    if (options.wait) return waitAndWriteTask(call, id);
    const task = await client.tasks.get(id, { signal, historyLength });
    output.writeTask(task, historyLength > 0);
    warnAboutUncompletedTask(output, agentRef, task);
  });
}

interface TaskWaitOptions extends ClientOptions {
  history?: number;
  pollInterval: number;
  untilAuthorized?: boolean;
}

/** Creates `colloquy task wait`, which waits like `task get --wait`. */
export function createTaskWaitCommand(context: CliContext): Command {
  const command = new Command("wait")
    .option(
      "--until-authorized",
      "also wait while the task needs an authorization that you grant outside of A2A (AUTH_REQUIRED)",
    )
    .option("--history <n>", "also show up to this many of the last messages", parseCount)
    .addOption(createPollIntervalOption());
  return defineClientCommand<TaskWaitOptions>(command, "<task id> ", context, (call) =>
    waitAndWriteTask(call, requireSingleId(call.args)),
  );
}

/** Polls a task until the task has ended or needs input, and then writes the task to stdout. */
export async function waitAndWriteTask(
  call: AgentCommandContext<TaskWaitOptions>,
  id: string,
): Promise<void> {
  const { client, agentRef, signal, options, output } = call;
  const history = options.history ?? 0;
  try {
    const task = await waitForTask(client, id, { signal, options: { ...options, history } });
    output.writeTask(task, history > 0);
    warnAboutUncompletedTask(output, agentRef, task);
  } catch (error) {
    throw signal.aborted
      ? toInterruptedWaitError(call, error, formatColloquyCommand("task", "get", agentRef, id, "--wait"))
      : error;
  }
}

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
          ...omitUndefined({ contextId, status: state, pageSize, pageToken }),
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

export function createTaskCancelCommand(context: CliContext): Command {
  return defineClientCommand<ClientOptions>(new Command("cancel"), "<task id> ", context, async (call) => {
    call.output.writeTask(await cancelTask(call, requireSingleId(call.args)));
  });
}

/** Canceling an already canceled task is not an error (a2a-cli SPEC §10.4). */
async function cancelTask(
  { client, signal, agentRef }: AgentCommandContext<ClientOptions>,
  id: string,
): Promise<Task> {
  try {
    return await client.tasks.cancel(id, { signal });
  } catch (error) {
    if (!(error instanceof A2AError) || error.reason !== "TASK_NOT_CANCELABLE") throw error;
    const task = await client.tasks.get(id, { signal, historyLength: 0 });
    if (task.status.state === "TASK_STATE_CANCELED") return task;
    const hint = `Its state is ${task.status.state}. ${formatColloquyCommand("task", "get", agentRef, id)} shows it.`;
    throw new CliError(error, hint);
  }
}

interface TaskSubscribeOptions extends ClientOptions {
  after?: string;
}

export function createTaskSubscribeCommand(context: CliContext): Command {
  const command = new Command("subscribe").option("--after <event id>", "only events after this one");
  return defineClientCommand<TaskSubscribeOptions>(command, "<task id> ", context, async (call) => {
    const { client, agentRef, signal, options, output } = call;
    const after = options.after === undefined ? {} : { after: options.after };
    const stream = client.tasks.subscribe(requireSingleId(call.args), { signal, ...after });
    // In text format the command always streams, because following a task is its purpose.
    if (options.stream || options.output === "text") return writeStreamEvents(stream, call);
    const response = await collect(yieldUntilTerminalOrInterrupted(stream));
    if (!("task" in response)) return;
    output.writeTask(response.task);
    warnAboutUncompletedTask(output, agentRef, response.task);
  });
}
