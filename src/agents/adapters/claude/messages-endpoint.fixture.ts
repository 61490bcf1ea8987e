import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A message in a request to the Messages API. */
export interface MessagesApiMessage {
  readonly role: string;
  readonly content:
    | string
    | readonly {
        readonly type: string;
        readonly text?: string;
        readonly source?: { readonly media_type: string; readonly data: string };
        readonly content?: unknown;
      }[];
}

/** Values that a scripted model answers with: text, reasoning, or the call of a tool. */
export type ScriptedClaudeOutput =
  | string
  | { readonly reasoning: string }
  | { readonly callId: string; readonly toolName: string; readonly input: object };

/** Answers a request of the Messages API. A thrown error becomes an HTTP response with status 400. */
export type MessagesScript = (
  messages: readonly MessagesApiMessage[],
  response: ServerResponse,
) => Iterable<ScriptedClaudeOutput> | AsyncIterable<ScriptedClaudeOutput>;

/** A server on a real socket that speaks Anthropic's Messages API with SSE and follows a script. */
export async function startMessagesEndpoint(
  script: MessagesScript,
): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const piece of request.setEncoding("utf8")) body += String(piece);
      const path = new URL(request.url ?? "", "http://localhost").pathname;
      if (path !== "/v1/messages") return sendError(response, 404, "not_found_error", path);
      const { messages } = JSON.parse(body) as { messages: MessagesApiMessage[] };
      try {
        await streamMessage(script(messages, response), response);
      } catch (error) {
        sendError(response, 400, "invalid_request_error", (error as Error).message);
      }
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function sendError(response: ServerResponse, status: number, type: string, message: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ type: "error", error: { type, message } }));
}

async function streamMessage(outputs: ReturnType<MessagesScript>, response: ServerResponse): Promise<void> {
  const send = (type: string, fields: object): void => {
    if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  };
  const start = { type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
  const usage = { input_tokens: 3, output_tokens: 1 };
  let hasStarted = false;
  let openIndex = -1;
  let openType = "";
  let index = -1;
  let stopReason = "end_turn";
  const closeBlock = (): void => {
    if (openIndex >= 0) send("content_block_stop", { index: openIndex });
    openIndex = -1;
  };
  const openBlock = (contentBlock: { type: string; [field: string]: unknown }): void => {
    if (openIndex >= 0 && openType === contentBlock.type && openType !== "tool_use") return;
    closeBlock();
    openIndex = ++index;
    openType = contentBlock.type;
    send("content_block_start", { index, content_block: contentBlock });
  };
  for await (const output of outputs) {
    if (!hasStarted) {
      send("message_start", { message: { id: `msg_${Date.now()}`, ...start, usage } });
      hasStarted = true;
    }
    if (typeof output === "string") {
      openBlock({ type: "text", text: "" });
      send("content_block_delta", { index, delta: { type: "text_delta", text: output } });
    } else if ("reasoning" in output) {
      openBlock({ type: "thinking", thinking: "", signature: "" });
      send("content_block_delta", { index, delta: { type: "thinking_delta", thinking: output.reasoning } });
      send("content_block_delta", { index, delta: { type: "signature_delta", signature: "c2ln" } });
    } else {
      stopReason = "tool_use";
      openBlock({ type: "tool_use", id: output.callId, name: output.toolName, input: {} });
      const partial_json = JSON.stringify(output.input);
      send("content_block_delta", { index, delta: { type: "input_json_delta", partial_json } });
    }
  }
  closeBlock();
  send("message_delta", {
    delta: { stop_reason: stopReason, stop_sequence: null },
    usage: { output_tokens: 5 },
  });
  send("message_stop", {});
  response.end();
}
