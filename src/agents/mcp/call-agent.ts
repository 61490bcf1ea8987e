import { collect, type A2AClient } from "../../client/index.ts";
import {
  getEventTaskId,
  getEventTaskState,
  isInterrupted,
  isTerminal,
  type JsonObject,
  type SendMessageResponse,
  type StreamResponse,
  type TaskState,
} from "../../protocol/index.ts";
import { isA2AError } from "./is-a2a-error.ts";
import type { AgentRequestFromToolCall } from "./tool-arguments.ts";

/** Options for `callAgent`. */
interface AgentCallOptions {
  /** The signal that aborts when the host cancels the call. The abort cancels the agent's task. */
  readonly signal: AbortSignal;
  /** Receives every event of the agent's task. */
  readonly onEvent: (event: StreamResponse) => void;
  /**
   * Time in milliseconds before the call returns the unfinished task. The task continues. Default: no limit.
   */
  readonly waitMs?: number | undefined;
  /** Metadata of the message to the agent. */
  readonly metadata?: JsonObject;
  /** HTTP headers for all requests to the agent. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Options for each request to the agent. */
interface AgentCallRequestOptions {
  readonly signal: AbortSignal;
  readonly headers: AgentCallOptions["headers"];
}

/**
 * Time limit in milliseconds for canceling the task of an aborted call. The limit includes the wait for the
 * task's id.
 */
const CANCEL_TIMEOUT_MS = 10_000;

/**
 * Sends a message to an agent, or waits for an existing task of the agent. Resolves with the task or the
 * agent's message when the task ends, the task is interrupted, or `waitMs` has passed.
 */
export async function callAgent(
  client: A2AClient,
  request: AgentRequestFromToolCall,
  { signal, onEvent, waitMs, metadata, headers }: AgentCallOptions,
): Promise<SendMessageResponse> {
  signal.throwIfAborted();
  // Ends the event stream without ending the task.
  const streamController = new AbortController();
  const taskId = Promise.withResolvers<string | undefined>();
  if (request.taskId !== undefined) taskId.resolve(request.taskId);
  async function* forwardEvents(
    events: AsyncIterable<StreamResponse>,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    for await (const event of events) {
      taskId.resolve(getEventTaskId(event));
      onEvent(event);
      yield event;
    }
  }
  const events = streamAgentRequestEvents(client, request, metadata, {
    signal: streamController.signal,
    headers,
  });
  const answer = collect(forwardEvents(events)).finally(() => taskId.resolve(undefined));
  const earlyResult = Promise.withResolvers<SendMessageResponse>();
  const cancel = (): void =>
    void cancelTask(client, taskId.promise, headers).then(earlyResult.reject, earlyResult.reject);
  const resolveWithUnfinishedTask = async (): Promise<void> => {
    const id = await taskId.promise;
    if (id !== undefined) earlyResult.resolve({ task: await client.tasks.get(id, { signal, headers }) });
  };
  signal.addEventListener("abort", cancel, { once: true });
  const timer =
    waitMs === undefined
      ? undefined
      : setTimeout(() => void resolveWithUnfinishedTask().catch(earlyResult.reject), waitMs);
  try {
    return await Promise.race([answer, earlyResult.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
    answer.catch(() => {});
    streamController.abort();
  }
}

/** Yields the events of an agent request until its task ends or is interrupted. */
async function* streamAgentRequestEvents(
  client: A2AClient,
  { parts, ...taskIds }: AgentRequestFromToolCall,
  metadata: JsonObject | undefined,
  callOptions: AgentCallRequestOptions,
): AsyncGenerator<StreamResponse, void, undefined> {
  const input = { parts, ...(metadata ? { metadata } : {}) };
  if (parts.length === 0) yield* streamExistingTaskEvents(client, taskIds.taskId ?? "", callOptions);
  else if (client.card.capabilities.streaming === true) {
    for await (const event of client.stream(input, { ...taskIds, ...callOptions })) {
      yield event;
      // The stream stays open while the user signs in, which may take hours. The status of an initial task
      // event is ignored, because it is older than this message.
      if ("statusUpdate" in event && isInterrupted(event.statusUpdate.status.state)) return;
    }
  } else {
    // The agent returns immediately, so the task id is known and the working task can be canceled.
    const response = await client.send(input, {
      ...taskIds,
      ...callOptions,
      configuration: { returnImmediately: true },
    });
    yield response;
    if ("task" in response && isActiveState(response.task.status.state))
      yield* streamExistingTaskEvents(client, response.task.id, callOptions);
  }
}

async function* streamExistingTaskEvents(
  client: A2AClient,
  id: string,
  callOptions: AgentCallRequestOptions,
): AsyncGenerator<StreamResponse, void, undefined> {
  const task = await client.tasks.get(id, callOptions);
  if (!isActiveState(task.status.state)) {
    yield { task };
    return;
  }
  try {
    for await (const event of client.tasks.subscribe(id, callOptions)) {
      yield event;
      // A subscription stays open while a task is interrupted.
      if (!isActiveState(getEventTaskState(event) ?? "TASK_STATE_WORKING")) return;
    }
  } catch (error) {
    // The task has ended in the meantime, and ended tasks cannot be subscribed to.
    if (!isA2AError(error) || error.reason !== "UNSUPPORTED_OPERATION") throw error;
    yield { task: await client.tasks.get(id, callOptions) };
  }
}

/**
 * Cancels the task of an aborted call as soon as the task's id is known. The returned promise always rejects,
 * because the caller no longer needs a result.
 */
async function cancelTask(
  client: A2AClient,
  taskId: Promise<string | undefined>,
  headers: AgentCallOptions["headers"],
): Promise<never> {
  const cancelSignal = AbortSignal.timeout(CANCEL_TIMEOUT_MS);
  const timeout = new Promise<undefined>((resolve) => {
    cancelSignal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  const id = await Promise.race([taskId, timeout]);
  if (id !== undefined) await client.tasks.cancel(id, { signal: cancelSignal, headers });
  throw new DOMException("The call was canceled.", "AbortError");
}

function isActiveState(state: TaskState): boolean {
  return !isTerminal(state) && !isInterrupted(state);
}
