import type { Input, SendOptions } from "./input.ts";
import type { Remote } from "./remote.ts";
import { isInterrupted, isTerminal, type StreamResponse } from "../protocol/index.ts";

/** How long a task that is left may take to begin, so that it can be cancelled, and then to be cancelled. */
const CANCEL_MS = 5_000;

/** What is done with a peer, of all that can be done with a connection. */
export interface Peer extends Pick<Remote, "send" | "stream"> {
  readonly card: { readonly capabilities: { readonly streaming?: boolean } };
  readonly task: Pick<Remote["task"], "get" | "cancel">;
}

export interface ExchangeOptions extends SendOptions {
  /** Ends the exchange. */
  readonly signal: AbortSignal;
}

/**
 * What a peer says to a message until it is done, or waits for its user. The task of an exchange that is left before
 * that, by the signal or by `return()`, is cancelled. Throws the reason of the signal.
 */
export async function* exchange(
  peer: Peer,
  input: Input,
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
    else leaving = setTimeout(() => stop.abort(signal.reason), CANCEL_MS);
  };
  signal.throwIfAborted();
  signal.addEventListener("abort", leave, { once: true });
  try {
    let before: StreamResponse | undefined;
    for await (const said of listen(peer, input, { ...options, signal: stop.signal })) {
      const isFirst = !isHeard;
      isHeard = true;
      taskId ??= taskIdIn(said);
      // A task that goes on is shown first as it was; only when nothing follows, that is the answer.
      before = isFirst && options.taskId !== undefined && isOngoing(said) ? said : undefined;
      if (before) {
        signal.throwIfAborted();
        continue;
      }
      isOver = isLast(said);
      if (!isOver) signal.throwIfAborted();
      yield said;
      // The stream of a task that waits for authorization stays open.
      if (isOver) return;
    }
    if (before) {
      isOver = isLast(before);
      yield before;
    }
  } finally {
    signal.removeEventListener("abort", leave);
    clearTimeout(leaving);
    const isLeft = !isOver && (isHeard || signal.aborted);
    if (taskId !== undefined && isLeft) await cancelQuietly(peer, taskId, options.headers);
  }
}

const FIRST_LOOK_MS = 100;
const LAST_LOOK_MS = 2_000;

/**
 * The stream of an agent; of one that does not stream, the answer. A new task is then asked for at once and looked at
 * until it is over, because one that is not known cannot be cancelled.
 */
async function* listen(
  peer: Peer,
  input: Input,
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
  if (isLast(answer) || "message" in answer) return;
  const { id } = answer.task;
  let known = JSON.stringify(answer.task);
  for (let ms = FIRST_LOOK_MS; ; ms = Math.min(ms * 2, LAST_LOOK_MS)) {
    await passed(ms, signal);
    const said = { task: await peer.task.get(id, { signal, headers }) };
    const seen = JSON.stringify(said.task);
    // A look at which nothing is new is silence.
    if (seen !== known) yield said;
    if (isLast(said)) return;
    known = seen;
  }
}

/** As far as it can be: nobody is left to tell that it did not work. */
export async function cancelQuietly(
  peer: Pick<Peer, "task">,
  taskId: string,
  headers: SendOptions["headers"],
): Promise<void> {
  await peer.task.cancel(taskId, { signal: AbortSignal.timeout(CANCEL_MS), headers }).catch(() => {});
}

function taskIdIn(said: StreamResponse): string | undefined {
  if ("task" in said) return said.task.id;
  if ("statusUpdate" in said) return said.statusUpdate.taskId;
  return "artifactUpdate" in said ? said.artifactUpdate.taskId : undefined;
}

function isOngoing(said: StreamResponse): boolean {
  return "task" in said && !isTerminal(said.task.status.state);
}

function isLast(said: StreamResponse): boolean {
  if ("message" in said) return true;
  if ("artifactUpdate" in said) return false;
  const { state } = "task" in said ? said.task.status : said.statusUpdate.status;
  return isTerminal(state) || isInterrupted(state);
}

function passed(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", leave);
      resolve();
    }, ms);
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  });
}
