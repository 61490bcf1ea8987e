import {
  formatTaskState,
  getText,
  isInterrupted,
  listAnswerParts,
  type SendMessageResponse,
  type Task,
} from "../protocol/index.ts";
import type { AgentAnswer } from "./a2a-client.ts";
import { collect } from "./collect-stream-result.ts";
import type { MessageInput, SendOptions } from "./message-input.ts";
import { sendAndStreamUntilTurnEnd, type TurnStreamClient } from "./send-and-stream-until-turn-end.ts";

/** Error of `ask` for a task that ended as FAILED, CANCELED, or REJECTED. `task` is the task. */
export class TaskNotCompletedError extends Error {
  override readonly name = "TaskNotCompletedError";
  readonly task: Task;

  constructor(task: Task) {
    const reason = getText(task.status.message?.parts ?? []);
    const state = formatTaskState(task.status.state);
    super(
      reason === ""
        ? `The agent ended task ${task.id} as ${state}, without a reason. The log of the agent may have the cause.`
        : `The agent ended task ${task.id} as ${state}: ${reason}`,
    );
    this.task = task;
  }
}

/** Sends a message, and resolves with the answer when the turn ends (`A2AClient.ask`). */
export async function askAgent(
  client: TurnStreamClient,
  input: MessageInput,
  options: SendOptions,
): Promise<AgentAnswer> {
  const { signal = new AbortController().signal } = options;
  return toAgentAnswer(await collect(sendAndStreamUntilTurnEnd(client, input, { ...options, signal })));
}

function toAgentAnswer(response: SendMessageResponse): AgentAnswer {
  if ("message" in response) return { text: getText(listAnswerParts(response.message)) };
  const { task } = response;
  const { state, message } = task.status;
  if (state === "TASK_STATE_FAILED" || state === "TASK_STATE_CANCELED" || state === "TASK_STATE_REJECTED")
    throw new TaskNotCompletedError(task);
  const texts = (task.artifacts ?? []).map((artifact) => getText(listAnswerParts(artifact)));
  if (message && (isInterrupted(state) || texts.length === 0)) texts.push(getText(message.parts));
  return { text: texts.filter((text) => text !== "").join("\n"), task };
}
