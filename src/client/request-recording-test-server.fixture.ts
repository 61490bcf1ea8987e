import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { encodeSseFrame } from "../wire/index.ts";
import type { DeliveryWatch } from "./delivery-watch.fixture.ts";
import { connect, type ConnectOptions, type A2AClient } from "./index.ts";

/** A request that a recording server received. */
export interface RecordedTestRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  /** The body as JSON, if it is valid JSON. */
  readonly body: {
    readonly method?: string;
    readonly id?: number;
    readonly params?: Record<string, unknown>;
  };
}

export type TestRequestResponder = (response: ServerResponse, request: RecordedTestRequest) => void;

/** A server that records requests and exists during the test. `answer` handles each request. */
export async function startRequestRecordingTestServer(
  answer: TestRequestResponder,
): Promise<{ url: string; seen: RecordedTestRequest[] }> {
  const seen: RecordedTestRequest[] = [];
  const http = createServer((incoming, response) => {
    // Bun and Deno repeat a request when a reused connection breaks, so that the number of requests would differ.
    response.setHeader("connection", "close");
    let text = "";
    incoming.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    incoming.on("end", () => {
      const { method = "", url = "", headers } = incoming;
      const body = JSON.parse(text.startsWith("{") ? text : "{}") as RecordedTestRequest["body"];
      const request: RecordedTestRequest = { method, url, headers, text, body };
      seen.push(request);
      answer(response, request);
    });
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, seen };
}

export function sendTestJsonResponse(response: ServerResponse, json: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
}

/**
 * Writes events with their ids (0 for none) and ends the stream as specified. With a watch, the server breaks the
 * connection when the client has read the events, and otherwise when the operating system has them.
 */
export function sendTestSseEvents(
  response: ServerResponse,
  events: readonly (readonly [id: number, json: unknown])[],
  ending: "end" | "cut" | "open",
  watch?: DeliveryWatch,
): void {
  // Node.js 22.18 takes a broken connection for the end of the response if the header announces `close`.
  if (ending === "cut") response.removeHeader("connection");
  response.writeHead(200, { "content-type": "text/event-stream" });
  const frames = events.map(([id, json]) => encodeSseFrame(JSON.stringify(json), id || undefined)).join("");
  const text = `: hello\n\n${frames}`;
  response.write(text, () => {
    if (ending === "end") response.end();
    if (ending === "cut")
      void (watch?.waitForText(text) ?? Promise.resolve()).then(() => response.socket?.resetAndDestroy());
  });
}

export function buildTestAgentCard(url: string, about: object = {}): object {
  return {
    name: "Raw",
    description: "A raw server",
    version: "1",
    supportedInterfaces: [
      { url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url: `${url}/rest`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
    ],
    capabilities: { streaming: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
    ...about,
  };
}

/** Connects to an agent with scripted responses, and records its requests except card requests. */
export async function connectToRequestRecordingTestServer(
  answer: TestRequestResponder,
  options: ConnectOptions = {},
  about: object = {},
): Promise<{ remote: A2AClient; seen: () => RecordedTestRequest[] }> {
  let url = "";
  const server = await startRequestRecordingTestServer((response, request) => {
    if (request.url.includes("/.well-known/")) sendTestJsonResponse(response, buildTestAgentCard(url, about));
    else answer(response, request);
  });
  ({ url } = server);
  const remote = await connect(url, options);
  return { remote, seen: () => server.seen.filter((request) => !request.url.includes("/.well-known/")) };
}

/** Answers every JSON-RPC request with a result. */
export const createTestJsonRpcResponder =
  (result: unknown): TestRequestResponder =>
  (response, { body }) =>
    sendTestJsonResponse(response, { jsonrpc: "2.0", id: body.id, result });
