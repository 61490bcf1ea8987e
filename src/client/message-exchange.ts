import { delay } from "./http/abort.ts";
import type { MessageInput, SendOptions } from "./message-input.ts";
import type { A2AClient } from "./a2a-client.ts";
import { isInterrupted, isTerminal, type StreamResponse } from "../protocol/index.ts";

/** How long a task that is left may take to begin, so that it can be cancelled, and then to be cancelled. */
const CANCEL_TIMEOUT_MS = 5_000;

/** What is done with a peer, of all that can be done with a connection. */
export interface ExchangeClient extends Pick<A2AClient, "send" | "stream"> {
  readonly card: { readonly capabilities: { readonly streaming?: boolean } };
  readonly tasks: Pick<A2AClient["tasks"], "get" | "cancel">;
}

export interface ExchangeOptions extends SendOptions {
  /** Ends the exchange. */
  readonly signal: AbortSignal;
}

/**
 * What a peer says to a message until it is done, or waits for its user. The task of an exchange that is left before
 * that, by the signal or by `return()`, is cancelled. Throws the reason of the signal.
 */
export async function* exchangeMessage(
  client: ExchangeClient,
  input: MessageInput,
  { signal, ...options }: ExchangeOptions,
): AsyncGenerator<StreamResponse, void, undefined> {
  const stop = new AbortController();
  // Of a task that goes on, the id is known before; that the peer has been told, only when it says something.
  let { taskId } = options;
  let hasReceived = false;
  let hasEnded = false;
  let stopTimer: NodeJS.Timeout | undefined;
  // What has just been sent has no task yet that could be cancelled.
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
      taskId ??= getTaskId(event);
      // A task that goes on is shown first as it was; only when nothing follows, that is the answer.
      heldTask = isFirst && options.taskId !== undefined && isUnfinishedTask(event) ? event : undefined;
      if (heldTask) {
        signal.throwIfAborted();
        continue;
      }
      hasEnded = isExchangeEnd(event);
      if (!hasEnded) signal.throwIfAborted();
      yield event;
      // The stream of a task that waits for authorization stays open.
      if (hasEnded) return;
    }
    if (heldTask) {
      hasEnded = isExchangeEnd(heldTask);
      yield heldTask;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    clearTimeout(stopTimer);
    const isAbandoned = !hasEnded && (hasReceived || signal.aborted);
    if (taskId !== undefined && isAbandoned) await cancelIgnoringErrors(client, taskId, options.headers);
  }
}

const MIN_POLL_INTERVAL_MS = 100;
const MAX_POLL_INTERVAL_MS = 2_000;

/**
 * The stream of an agent; of one that does not stream, the answer. A new task is then asked for at once and looked at
 * until it is over, because one that is not known cannot be cancelled.
 */
async function* streamOrPoll(
  client: ExchangeClient,
  input: MessageInput,
  options: ExchangeOptions,
): AsyncGenerator<StreamResponse, void, undefined> {
  if (client.card.capabilities.streaming === true) {
    yield* client.stream(input, options);
    return;
  }
  const { taskId, signal, headers } = options;
  const configuration = { ...options.configuration, returnImmediately: true };
  const answer = await client.send(input, taskId === undefined ? { ...options, configuration } : options);
  yield answer;
  if (isExchangeEnd(answer) || "message" in answer) return;
  const { id } = answer.task;
  let lastSeen = JSON.stringify(answer.task);
  for (let ms = MIN_POLL_INTERVAL_MS; ; ms = Math.min(ms * 2, MAX_POLL_INTERVAL_MS)) {
    await delay(ms, signal);
    const event = { task: await client.tasks.get(id, { signal, headers }) };
    const serialized = JSON.stringify(event.task);
    // A look at which nothing is new is silence.
    if (serialized !== lastSeen) yield event;
    if (isExchangeEnd(event)) return;
    lastSeen = serialized;
  }
}

/** As far as it can be: nobody is left to tell that it did not work. */
export async function cancelIgnoringErrors(
  client: Pick<ExchangeClient, "tasks">,
  taskId: string,
  headers: SendOptions["headers"],
): Promise<void> {
  await client.tasks
    .cancel(taskId, { signal: AbortSignal.timeout(CANCEL_TIMEOUT_MS), headers })
    .catch(() => {});
}

function getTaskId(event: StreamResponse): string | undefined {
  if ("task" in event) return event.task.id;
  if ("statusUpdate" in event) return event.statusUpdate.taskId;
  return "artifactUpdate" in event ? event.artifactUpdate.taskId : undefined;
}

function isUnfinishedTask(event: StreamResponse): boolean {
  return "task" in event && !isTerminal(event.task.status.state);
}

function isExchangeEnd(event: StreamResponse): boolean {
  if ("message" in event) return true;
  if ("artifactUpdate" in event) return false;
  const { state } = "task" in event ? event.task.status : event.statusUpdate.status;
  return isTerminal(state) || isInterrupted(state);
}
