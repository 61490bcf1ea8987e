import { setTimeout as pause } from "node:timers/promises";
import type { A2AClient } from "../client/index.ts";
import {
  A2AError,
  getEventTaskState,
  isInterrupted,
  isTerminal,
  type StreamResponse,
  type Task,
  type TaskState,
} from "../protocol/index.ts";
import {
  findPendingToolCalls,
  formatExampleResponse,
  formatQuestion,
  formatToolCall,
  isAnswerableWithText,
} from "./tool-call-answers.ts";
import { formatColloquyCommand } from "./format-colloquy-command.ts";
import type { OutputWriter } from "./output-writer.ts";

/** Maximum number of consecutive failed polls of a task. Each retry doubles the polling interval. */
const MAX_POLL_FAILURES = 5;

/** Returns whether the task has ended or needs input, so that polling can stop. */
function isTerminalOrInterrupted(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state);
}

/**
 * Yields the events of a stream until the task has ended or needs input. Some agents keep the stream open
 * while the task waits for input, but the client cannot send input on the stream. `known` is true if the
 * first event contains the task's state before the current turn.
 */
export async function* yieldUntilTerminalOrInterrupted(
  stream: AsyncIterable<StreamResponse>,
  known = false,
): AsyncGenerator<StreamResponse, void> {
  let isFirst = known;
  for await (const event of stream) {
    yield event;
    const state = getEventTaskState(event);
    if (state !== undefined && isTerminalOrInterrupted(state) && !isFirst) return;
    isFirst = false;
  }
}

/**
 * Waits for the given number of milliseconds, or rejects with the signal's abort reason. Node's own timer
 * rejects without the abort reason.
 */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}

interface TaskWaitOptions {
  readonly pollInterval: number;
  readonly history?: number;
  /** Whether the wait continues while the task waits for an authorization, which the user grants elsewhere (A2A §7.6). */
  readonly untilAuthorized?: boolean;
}

/** Polls a task until the task has ended or needs input. `known` is the last known state of the task. */
export async function waitForTask(
  remote: A2AClient,
  id: string,
  { signal, options }: { signal: AbortSignal; options: TaskWaitOptions },
  known?: Task,
): Promise<Task> {
  const isWaitOver = (state: TaskState): boolean =>
    isTerminalOrInterrupted(state) && !(options.untilAuthorized && state === "TASK_STATE_AUTH_REQUIRED");
  let task = known;
  let failures = 0;
  while (!task || !isWaitOver(task.status.state)) {
    if (task ?? failures > 0) await sleep(options.pollInterval * 2 ** failures, signal);
    try {
      const { history } = options;
      task = await remote.tasks.get(id, {
        signal,
        ...(history === undefined ? {} : { historyLength: history }),
      });
      failures = 0;
    } catch (error) {
      if (!(error instanceof A2AError) || error.reason !== "UNAVAILABLE" || ++failures > MAX_POLL_FAILURES)
        throw error;
    }
  }
  return task;
}

/**
 * If a turn is unfinished or unsuccessful, the function writes a warning to stderr. The warning contains the
 * command that continues the task. The exit code is 0 even if the task is unsuccessful (a2a-cli SPEC §11.6).
 */
export function warnAboutUncompletedTask(
  output: OutputWriter,
  ref: string,
  task: Pick<Task, "id" | "status">,
): void {
  const { state } = task.status;
  if (isInterrupted(state)) {
    output.writeWarning(`the task waits for you (${state})`);
    for (const line of formatResumeCommands(ref, task)) output.writeHint(line);
  } else if (!isTerminal(state)) {
    output.writeHint(formatColloquyCommand("task", "get", ref, task.id, "--wait"));
  } else if (state !== "TASK_STATE_COMPLETED") {
    output.writeWarning(`the task ended as ${state}`);
  }
}

/** Returns lines that tell the user how to answer an interrupted task, with a command for its pending function calls. */
export function formatResumeCommands(ref: string, task: Pick<Task, "id" | "status">): string[] {
  const calls = findPendingToolCalls(task);
  const send = ["send", ref, "--task-id", task.id];
  const textCommand = `${formatColloquyCommand(...send)} "<your answer>"`;
  if (calls.length === 0 && task.status.state === "TASK_STATE_AUTH_REQUIRED")
    return [
      "grant the authorization that the message of the task describes, and wait for the task:",
      formatColloquyCommand("task", "wait", ref, task.id, "--until-authorized"),
      `or answer the agent: ${textCommand}`,
    ];
  if (calls.length === 0) return [textCommand];
  const [call] = calls;
  if (call && isAnswerableWithText(task))
    return [`the agent ${formatQuestion(call)} Answer with this command:`, textCommand];
  const pending = calls.map(formatToolCall).join(", ");
  const answers = calls.flatMap((call) => ["--answer", formatExampleResponse(call)]);
  return [
    `the agent needs the result of ${pending}. Send it with this command:`,
    formatColloquyCommand(...send, ...answers),
  ];
}
