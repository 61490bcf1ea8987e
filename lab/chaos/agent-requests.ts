/** JSON-RPC requests of A2A 1.0, without our client. */
import { setTimeout as pause } from "node:timers/promises";
import { getText, type StreamResponse, type Task } from "../../src/protocol/index.ts";
import { createUserMessage } from "../../test/support/http-bindings.ts";
import type { StreamRequest } from "../../test/support/raw-stream.ts";
import { parseChunks, type AgentChunk } from "./chunk-text.ts";
import type { AgentScript } from "./scripted-agents.ts";

const REQUEST_TIMEOUT_MS = 10_000;

/** Returns the body of a JSON-RPC request. */
export function createRpcBody(method: string, params: object): object {
  return { jsonrpc: "2.0", id: 1, method, params };
}

/** Sends a request, and returns its result. Throws an error with the reply if there is no result. */
export async function callAgent<Result>(
  agentUrl: string,
  method: string,
  params: object,
  caller = "anonymous",
): Promise<Result> {
  const response = await fetch(agentUrl, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0", "x-caller": caller },
    body: JSON.stringify(createRpcBody(method, params)),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  const text = await response.text();
  const reply = JSON.parse(text) as { result?: Result };
  if (reply.result === undefined) throw new Error(`${method} failed: ${text.slice(0, 300)}`);
  return reply.result;
}

/** Starts a task of a caller without waiting for its end, and returns its id. */
export async function startTask(
  agentUrl: string,
  messageId: string,
  script: AgentScript,
  caller?: string,
): Promise<string> {
  const message = createUserMessage(messageId, JSON.stringify(script));
  const params = { message, configuration: { returnImmediately: true } };
  return (await callAgent<{ task: Task }>(agentUrl, "SendMessage", params, caller)).task.id;
}

/** Returns a request that streams a new task. */
export function createSendRequest(agentUrl: string, messageId: string, script: AgentScript): StreamRequest {
  const message = createUserMessage(messageId, JSON.stringify(script));
  return { url: agentUrl, body: createRpcBody("SendStreamingMessage", { message }) };
}

/** Returns a request that streams the events of a task after the event with the number `after`. */
export function createSubscribeRequest(agentUrl: string, taskId: string, after?: number): StreamRequest {
  return {
    url: agentUrl,
    body: createRpcBody("SubscribeToTask", { id: taskId }),
    ...(after === undefined ? {} : { headers: { "last-event-id": String(after) } }),
  };
}

export function fetchTaskByRpc(agentUrl: string, taskId: string): Promise<Task> {
  return callAgent<Task>(agentUrl, "GetTask", { id: taskId });
}

/** Repeats GetTask until the task has ended, and returns the last state, also if the time is over before. */
export async function waitForFinalState(
  agentUrl: string,
  taskId: string,
  timeoutMs: number,
): Promise<string> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const state = await fetchTaskByRpc(agentUrl, taskId).then(
      ({ status }) => status.state,
      (error: unknown) => `unknown (${String(error)})`,
    );
    if (isFinalState(state) || performance.now() > deadline) return state;
    await pause(50);
  }
}

export function isFinalState(state: string | undefined): boolean {
  return /^TASK_STATE_(COMPLETED|FAILED|CANCELED|REJECTED)$/.test(state ?? "");
}

/** Returns the event in the data of a JSON-RPC stream. Throws the error of an error reply. */
export function decodeStreamData(data: string): StreamResponse {
  const { result } = JSON.parse(data) as { result?: StreamResponse };
  if (!result) throw new Error(`the stream ended with an error: ${data.slice(0, 300)}`);
  return result;
}

/** Returns the chunks of the scripted agent in an event. */
export function readEventChunks(event: StreamResponse): AgentChunk[] {
  const artifacts =
    "artifactUpdate" in event
      ? [event.artifactUpdate.artifact]
      : "task" in event
        ? (event.task.artifacts ?? [])
        : [];
  return artifacts.flatMap(({ parts }) => parseChunks(getText(parts)));
}

/** Returns the state of the task that an event reports. */
export function readEventState(event: StreamResponse): string | undefined {
  if ("task" in event) return event.task.status.state;
  return "statusUpdate" in event ? event.statusUpdate.status.state : undefined;
}
