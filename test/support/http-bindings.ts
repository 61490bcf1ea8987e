import type { Message, StreamResponse, Task } from "../../src/protocol/index.ts";
import type { StreamRequest } from "./raw-stream.ts";

export type HttpBinding = "JSONRPC" | "HTTP+JSON";
export const HTTP_BINDINGS: readonly HttpBinding[] = ["JSONRPC", "HTTP+JSON"];

/** How each binding encodes the two streaming requests. `url` is an agent's endpoint. */
export const STREAM_REQUESTS: Readonly<
  Record<
    HttpBinding,
    {
      readonly send: (url: string, message: object) => StreamRequest;
      readonly subscribe: (url: string, taskId: string) => StreamRequest;
      /** Decodes the A2A event in the data of an SSE event. */
      readonly event: (data: string) => StreamResponse;
    }
  >
> = {
  JSONRPC: {
    send: (url, message) => ({ url, body: createRpcRequest("SendStreamingMessage", { message }) }),
    subscribe: (url, taskId) => ({ url, body: createRpcRequest("SubscribeToTask", { id: taskId }) }),
    event: (data) => (JSON.parse(data) as { result: StreamResponse }).result,
  },
  "HTTP+JSON": {
    send: (url, message) => ({ url: `${url}/message:stream`, body: { message } }),
    subscribe: (url, taskId) => ({ url: `${url}/tasks/${taskId}:subscribe` }),
    event: (data) => JSON.parse(data) as StreamResponse,
  },
};

function createRpcRequest(method: string, params: object): object {
  return { jsonrpc: "2.0", id: 1, method, params };
}

/** Sends GetTask with `fetch`, without our client. */
export async function fetchTask(url: string, taskId: string): Promise<Task> {
  const response = await fetch(`${url}/tasks/${taskId}`, { headers: { "a2a-version": "1.0" } });
  return (await response.json()) as Task;
}

export function createUserMessage(messageId: string, text: string): Message {
  return { messageId, role: "ROLE_USER", parts: [{ text }] };
}
