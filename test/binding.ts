import type { Message, StreamResponse, Task } from "../src/protocol/index.ts";
import type { StreamRequest } from "./raw-stream.ts";

export type Binding = "JSONRPC" | "HTTP+JSON";
export const BINDINGS: readonly Binding[] = ["JSONRPC", "HTTP+JSON"];

/** How each binding writes the two requests that are answered by a stream; `url` is an agent's endpoint. */
export const STREAMS: Readonly<
  Record<
    Binding,
    {
      readonly send: (url: string, message: object) => StreamRequest;
      readonly subscribe: (url: string, taskId: string) => StreamRequest;
      /** The A2A event in the data of an SSE event. */
      readonly event: (data: string) => StreamResponse;
    }
  >
> = {
  JSONRPC: {
    send: (url, message) => ({ url, body: call("SendStreamingMessage", { message }) }),
    subscribe: (url, taskId) => ({ url, body: call("SubscribeToTask", { id: taskId }) }),
    event: (data) => (JSON.parse(data) as { result: StreamResponse }).result,
  },
  "HTTP+JSON": {
    send: (url, message) => ({ url: `${url}/message:stream`, body: { message } }),
    subscribe: (url, taskId) => ({ url: `${url}/tasks/${taskId}:subscribe` }),
    event: (data) => JSON.parse(data) as StreamResponse,
  },
};

function call(method: string, params: object): object {
  return { jsonrpc: "2.0", id: 1, method, params };
}

/** GetTask with nothing between the test and the wire. */
export async function getTask(url: string, taskId: string): Promise<Task> {
  const response = await fetch(`${url}/tasks/${taskId}`, { headers: { "a2a-version": "1.0" } });
  return (await response.json()) as Task;
}

export function userMessage(messageId: string, text: string): Message {
  return { messageId, role: "ROLE_USER", parts: [{ text }] };
}
