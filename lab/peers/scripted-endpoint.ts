import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly stream?: boolean;
}

/** One request to a scripted endpoint, with functions to answer it. */
export interface ScriptedEndpointExchange {
  readonly request: ChatRequest;
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  /** Streams a chunk of the answer. */
  readonly sendDelta: (delta: object, extra?: object) => void;
  /** Ends the stream correctly. */
  readonly finish: (finishReason?: string) => void;
}

/** An OpenAI-compatible endpoint on a real socket that follows a script. */
export async function startScriptedEndpoint(
  play: (asked: ScriptedEndpointExchange) => void | Promise<void>,
): Promise<{ baseUrl: string; close: () => void }> {
  const server = createServer((incoming, response) => {
    void (async () => {
      let body = "";
      for await (const piece of incoming.setEncoding("utf8")) body += String(piece);
      const frame = (value: unknown): void => {
        if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(`data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`);
      };
      await play({
        request: JSON.parse(body) as ChatRequest,
        incoming,
        response,
        sendDelta: (delta, extra = {}) => frame({ choices: [{ index: 0, delta, ...extra }] }),
        finish: (finishReason = "stop") => {
          frame({ choices: [{ index: 0, delta: {}, finish_reason: finishReason }] });
          frame({
            choices: [],
            usage: {
              prompt_tokens: 3,
              completion_tokens: 5,
              total_tokens: 8,
              prompt_tokens_details: { cached_tokens: 2 },
            },
          });
          frame("[DONE]");
          response.end();
        },
      });
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
