import type { MessageInput, SendOptions } from "./message-input.ts";
import type { A2AClient } from "./a2a-client.ts";
import { getEventTaskId, isInterrupted, isTerminal, type StreamResponse } from "../protocol/index.ts";

/** Maximum time in milliseconds for canceling a new task, including the wait for its id. */
const CANCEL_TIMEOUT_MS = 5_000;

/** The methods of `A2AClient` that a message exchange calls. */
export interface TurnStreamClient extends Pick<A2AClient, "send" | "stream"> {
  readonly card: { readonly capabilities: { readonly streaming?: boolean } };
  readonly tasks: Pick<A2AClient["tasks"], "subscribe" | "cancel">;
}

/** Options for `sendAndStreamUntilTurnEnd`. */
export interface TurnStreamOptions extends SendOptions {
  /** Aborting the signal ends the message exchange and cancels its task. */
  readonly signal: AbortSignal;
}

/**
 * Sends a message, and yields the agent's events until the task ends or waits for the user. If the consumer
 * aborts the signal or calls `return()`, the task is canceled. Throws the signal's abort reason if the signal
 * aborts.
 */
export async function* sendAndStreamUntilTurnEnd(
  client: TurnStreamClient,
  input: MessageInput,
  { signal, ...options }: TurnStreamOptions,
): AsyncGenerator<StreamResponse, void, undefined> {
  const stop = new AbortController();
  // The id of a continued task is known from the start. Whether the message has arrived is known only after
  // the first event.
  let { taskId } = options;
  let hasReceived = false;
  let hasEnded = false;
  let stopTimer: NodeJS.Timeout | undefined;
  // A message that was just sent has no task id yet, so the exchange waits for one before it can cancel the
  // task.
  const onAbort = (): void => {
    if (taskId !== undefined) stop.abort(signal.reason);
    else stopTimer = setTimeout(() => stop.abort(signal.reason), CANCEL_TIMEOUT_MS);
  };
  signal.throwIfAborted();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    let heldTask: StreamResponse | undefined;
    for await (const event of streamOrPoll(client, input, { ...options, signal: stop.signal })) {
      const isFirst = !hasReceived;
      hasReceived = true;
      taskId ??= getEventTaskId(event);
      // A continued task is first shown in its previous state. That snapshot is the answer only if no other
      // event follows.
      heldTask = isFirst && options.taskId !== undefined && isUnfinishedTask(event) ? event : undefined;
      if (heldTask) {
        signal.throwIfAborted();
        continue;
      }
      hasEnded = isTurnEndEvent(event);
      if (!hasEnded) signal.throwIfAborted();
      yield event;
      // The stream of a task in state AUTH_REQUIRED stays open.
      if (hasEnded) return;
    }
    if (heldTask) {
      hasEnded = isTurnEndEvent(heldTask);
      yield heldTask;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    clearTimeout(stopTimer);
    const isAbandoned = !hasEnded && (hasReceived || signal.aborted);
    if (taskId !== undefined && isAbandoned) await cancelTaskIgnoringErrors(client, taskId, options.headers);
  }
}

/**
 * Yields the events of the agent's stream. If the agent does not support streaming, the function sends the
 * message, requests an immediate response, and polls the task until the task ends. A task can be canceled
 * only after its id is known.
 */
async function* streamOrPoll(
  client: TurnStreamClient,
  input: MessageInput,
  options: TurnStreamOptions,
): AsyncGenerator<StreamResponse, void, undefined> {
  if (client.card.capabilities.streaming === true) {
    yield* client.stream(input, options);
    return;
  }
  const { taskId, signal, headers } = options;
  const configuration = { ...options.configuration, returnImmediately: true };
  const answer = await client.send(input, taskId === undefined ? { ...options, configuration } : options);
  yield answer;
  if (isTurnEndEvent(answer) || "message" in answer) return;
  const known = JSON.stringify(answer);
  for await (const event of client.tasks.subscribe(answer.task.id, { signal, headers }))
    if (JSON.stringify(event) !== known) yield event;
}

/** Cancels a task and ignores all errors, because the caller no longer waits for a result. */
export async function cancelTaskIgnoringErrors(
  client: Pick<TurnStreamClient, "tasks">,
  taskId: string,
  headers: SendOptions["headers"],
): Promise<void> {
  await client.tasks
    .cancel(taskId, { signal: AbortSignal.timeout(CANCEL_TIMEOUT_MS), headers })
    .catch(() => {});
}

function isUnfinishedTask(event: StreamResponse): boolean {
  return "task" in event && !isTerminal(event.task.status.state);
}

function isTurnEndEvent(event: StreamResponse): boolean {
  // With the message events extension, the stream also contains messages of the task's users.
  if ("message" in event) return event.message.role === "ROLE_AGENT";
  if ("artifactUpdate" in event) return false;
  const { state } = "task" in event ? event.task.status : event.statusUpdate.status;
  return isTerminal(state) || isInterrupted(state);
}
