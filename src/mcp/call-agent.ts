import { collect, type A2AClient } from "../client/index.ts";
import {
  getTaskId,
  getTaskState,
  isInterrupted,
  isTerminal,
  type JsonObject,
  type SendMessageResponse,
  type StreamResponse,
  type TaskState,
} from "../protocol/index.ts";
import { isA2AError } from "./is-a2a-error.ts";
import type { AgentRequest } from "./tool-arguments.ts";

export interface AgentCallOptions {
  /** Aborts when the host has given the call up: the task is cancelled then. */
  readonly signal: AbortSignal;
  /** Shown everything that happens. */
  readonly onEvent: (event: StreamResponse) => void;
  /** After this long the task as it is then is the answer, and goes on. */
  readonly waitMs?: number | undefined;
  readonly metadata?: JsonObject;
}

/** How long a task may take to be begun, and to be cancelled, once nobody wants it any more. */
const CANCEL_TIMEOUT_MS = 10_000;

/** Says something to an agent, or waits for a task; gives what came of it. */
export async function callAgent(
  remote: A2AClient,
  said: AgentRequest,
  { signal, onEvent: see, waitMs, metadata }: AgentCallOptions,
): Promise<SendMessageResponse> {
  signal.throwIfAborted();
  // Ends the listening; whether the task ends is another matter.
  const enough = new AbortController();
  const begun = Promise.withResolvers<string | undefined>();
  if (said.taskId !== undefined) begun.resolve(said.taskId);
  async function* seen(
    events: AsyncIterable<StreamResponse>,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    for await (const event of events) {
      begun.resolve(getTaskId(event));
      see(event);
      yield event;
    }
  }
  const given = streamAgentEvents(remote, said, metadata, enough.signal);
  const answer = collect(seen(given)).finally(() => begun.resolve(undefined));
  const early = Promise.withResolvers<SendMessageResponse>();
  const cancel = (): void => void cancelTask(remote, begun.promise).then(early.reject, early.reject);
  const late = async (): Promise<void> => {
    const id = await begun.promise;
    if (id !== undefined) early.resolve({ task: await remote.tasks.get(id, { signal }) });
  };
  signal.addEventListener("abort", cancel, { once: true });
  const timer = waitMs === undefined ? undefined : setTimeout(() => void late().catch(early.reject), waitMs);
  try {
    return await Promise.race([answer, early.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
    answer.catch(() => {});
    enough.abort();
  }
}

/** What the agent does about it, as it happens. */
async function* streamAgentEvents(
  remote: A2AClient,
  { parts, ...place }: AgentRequest,
  metadata: JsonObject | undefined,
  signal: AbortSignal,
): AsyncGenerator<StreamResponse, void, undefined> {
  const input = { parts, ...(metadata ? { metadata } : {}) };
  if (parts.length === 0) yield* followTask(remote, place.taskId ?? "", signal);
  else if (remote.card.capabilities.streaming === true) {
    for await (const event of remote.stream(input, { ...place, signal })) {
      yield event;
      // The stream stays open while somebody signs in, which may take hours. What a task says as it opens is of before.
      if ("statusUpdate" in event && isInterrupted(event.statusUpdate.status.state)) return;
    }
  } else {
    // Asked to answer at once, so that the task is known and can be cancelled while it works.
    const first = await remote.send(input, { ...place, signal, configuration: { returnImmediately: true } });
    yield first;
    if ("task" in first && isActiveState(first.task.status.state))
      yield* followTask(remote, first.task.id, signal);
  }
}

async function* followTask(
  remote: A2AClient,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<StreamResponse, void, undefined> {
  const task = await remote.tasks.get(id, { signal });
  if (!isActiveState(task.status.state)) {
    yield { task };
    return;
  }
  try {
    for await (const event of remote.tasks.subscribe(id, { signal })) {
      yield event;
      // A subscription stays open behind a question.
      if (!isActiveState(getTaskState(event) ?? "TASK_STATE_WORKING")) return;
    }
  } catch (error) {
    // It has ended in between, and of such a one there is nothing to follow.
    if (!isA2AError(error) || error.reason !== "UNSUPPORTED_OPERATION") throw error;
    yield { task: await remote.tasks.get(id, { signal }) };
  }
}

/** Rejects in any case: there is nobody left who wants an answer. */
async function cancelTask(remote: A2AClient, begun: Promise<string | undefined>): Promise<never> {
  const patience = AbortSignal.timeout(CANCEL_TIMEOUT_MS);
  const tooLate = new Promise<undefined>((resolve) => {
    patience.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  const id = await Promise.race([begun, tooLate]);
  if (id !== undefined) await remote.tasks.cancel(id, { signal: patience });
  throw new DOMException("The call was cancelled.", "AbortError");
}

function isActiveState(state: TaskState): boolean {
  return !isTerminal(state) && !isInterrupted(state);
}
