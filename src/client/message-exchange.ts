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
  peer: ExchangeClient,
  input: MessageInput,
  { signal, ...options }: ExchangeOptions,
): AsyncGenerator<StreamResponse, void, undefined> {
  const stop = new AbortController();
  // Of a task that goes on, the id is known before; that the peer has been told, only when it says something.
  let { taskId } = options;
  let isHeard = false;
  let isOver = false;
  let leaving: NodeJS.Timeout | undefined;
  // What has just been sent has no task yet that could be cancelled.
  const leave = (): void => {
    if (taskId !== undefined) stop.abort(signal.reason);
    else leaving = setTimeout(() => stop.abort(signal.reason), CANCEL_TIMEOUT_MS);
  };
  signal.throwIfAborted();
  signal.addEventListener("abort", leave, { once: true });
  try {
    let before: StreamResponse | undefined;
    for await (const said of streamOrPoll(peer, input, { ...options, signal: stop.signal })) {
      const isFirst = !isHeard;
      isHeard = true;
      taskId ??= getTaskId(said);
      // A task that goes on is shown first as it was; only when nothing follows, that is the answer.
      before = isFirst && options.taskId !== undefined && isUnfinishedTask(said) ? said : undefined;
      if (before) {
        signal.throwIfAborted();
        continue;
      }
      isOver = isExchangeEnd(said);
      if (!isOver) signal.throwIfAborted();
      yield said;
      // The stream of a task that waits for authorization stays open.
      if (isOver) return;
    }
    if (before) {
      isOver = isExchangeEnd(before);
      yield before;
    }
  } finally {
    signal.removeEventListener("abort", leave);
    clearTimeout(leaving);
    const isLeft = !isOver && (isHeard || signal.aborted);
    if (taskId !== undefined && isLeft) await cancelIgnoringErrors(peer, taskId, options.headers);
  }
}

const MIN_POLL_INTERVAL_MS = 100;
const MAX_POLL_INTERVAL_MS = 2_000;

/**
 * The stream of an agent; of one that does not stream, the answer. A new task is then asked for at once and looked at
 * until it is over, because one that is not known cannot be cancelled.
 */
async function* streamOrPoll(
  peer: ExchangeClient,
  input: MessageInput,
  options: ExchangeOptions,
): AsyncGenerator<StreamResponse, void, undefined> {
  if (peer.card.capabilities.streaming === true) {
    yield* peer.stream(input, options);
    return;
  }
  const { taskId, signal, headers } = options;
  const configuration = { ...options.configuration, returnImmediately: true };
  const answer = await peer.send(input, taskId === undefined ? { ...options, configuration } : options);
  yield answer;
  if (isExchangeEnd(answer) || "message" in answer) return;
  const { id } = answer.task;
  let known = JSON.stringify(answer.task);
  for (let ms = MIN_POLL_INTERVAL_MS; ; ms = Math.min(ms * 2, MAX_POLL_INTERVAL_MS)) {
    await delay(ms, signal);
    const said = { task: await peer.tasks.get(id, { signal, headers }) };
    const seen = JSON.stringify(said.task);
    // A look at which nothing is new is silence.
    if (seen !== known) yield said;
    if (isExchangeEnd(said)) return;
    known = seen;
  }
}

/** As far as it can be: nobody is left to tell that it did not work. */
export async function cancelIgnoringErrors(
  peer: Pick<ExchangeClient, "tasks">,
  taskId: string,
  headers: SendOptions["headers"],
): Promise<void> {
  await peer.tasks
    .cancel(taskId, { signal: AbortSignal.timeout(CANCEL_TIMEOUT_MS), headers })
    .catch(() => {});
}

function getTaskId(said: StreamResponse): string | undefined {
  if ("task" in said) return said.task.id;
  if ("statusUpdate" in said) return said.statusUpdate.taskId;
  return "artifactUpdate" in said ? said.artifactUpdate.taskId : undefined;
}

function isUnfinishedTask(said: StreamResponse): boolean {
  return "task" in said && !isTerminal(said.task.status.state);
}

function isExchangeEnd(said: StreamResponse): boolean {
  if ("message" in said) return true;
  if ("artifactUpdate" in said) return false;
  const { state } = "task" in said ? said.task.status : said.statusUpdate.status;
  return isTerminal(state) || isInterrupted(state);
}
