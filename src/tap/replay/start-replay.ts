import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { isLoopbackHost } from "../../keys/index.ts";
import {
  A2AError,
  isObject,
  isStreamingOperation,
  type JsonObject,
  type OperationName,
} from "../../protocol/index.ts";
import { defineOptionNames } from "../../usage-checks/index.ts";
import { decodeJsonRpcRequest, JsonRpcRequestError } from "../../wire/index.ts";
import * as v0_3 from "../../wire/v0_3/index.ts";
import * as v1 from "../../wire/v1/index.ts";
import { rewriteCardUrls } from "../cards/rewrite-card-urls.ts";
import { sendProblem } from "../http/send-problem.ts";
import { describeParams, matchRestOperation } from "../recording/call-description.ts";
import { toJsonObject } from "./decode-recorded-params.ts";
import { ExchangeMatcher } from "./exchange-matcher.ts";
import type { RecordedAgent, RecordedExchange } from "./recorded-exchanges.ts";
import {
  createJsonRpcReplayEncoder,
  createRestReplayEncoder,
  decodeRecordedResponse,
  listReplayedEvents,
  type ReplayEncoder,
  summarizeMessage,
  writeReplayedEvent,
} from "./replay-response.ts";

/** Options of `startReplay`. */
export interface ReplayOptions {
  /** Port on 127.0.0.1. Default: a free port. */
  readonly port?: number;
  /** Factor of the recorded speed, or `max` for no delays. Default: 1. */
  readonly speed?: number | "max";
  /** Called with each request that was not recorded. */
  readonly onMiss?: (text: string) => void;
}

const assertKnownReplayOptions = defineOptionNames<ReplayOptions>()("startReplay", "port speed onMiss");

/** A running replay. */
export interface RunningReplay {
  readonly url: string;
  close(): Promise<void>;
}

/** Maximum length of a request body in bytes. */
const MAX_REQUEST_BYTES = 16 * 2 ** 20;

/** Serves a recorded agent over JSON-RPC and HTTP+JSON, in A2A 1.0 and 0.3. */
export async function startReplay(agent: RecordedAgent, options: ReplayOptions = {}): Promise<RunningReplay> {
  assertKnownReplayOptions(options);
  const replay = new AgentReplay(agent, options);
  const server = createServer((request, response) => {
    replay.handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendProblem(response, 500, error instanceof Error ? error.message : String(error));
    });
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The operation of a request, its parameters in the form of A2A 1.0, and the encoder of the response. */
interface DecodedRequest {
  readonly operation: OperationName;
  readonly params: JsonObject;
  readonly encoder: ReplayEncoder;
}

class AgentReplay {
  readonly #agent: RecordedAgent;
  readonly #matcher: ExchangeMatcher;
  readonly #msPerRecordedMs: number;
  readonly #onMiss: (text: string) => void;

  constructor(agent: RecordedAgent, { speed = 1, onMiss = () => {} }: ReplayOptions) {
    this.#agent = agent;
    this.#matcher = new ExchangeMatcher(agent.exchanges);
    this.#msPerRecordedMs = speed === "max" ? 0 : 1 / speed;
    this.#onMiss = onMiss;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = "/", method, headers } = request;
    // A web page with a rebound host name could otherwise read the record.
    if (!isLoopbackHost(URL.parse(`http://${headers.host}`)?.hostname ?? ""))
      return sendProblem(response, 403, "The replay accepts only loopback hosts.");
    if (method === "GET" && /\/\.well-known\/agent(-card)?\.json$/.test(url))
      return this.#sendCard(request, response);
    const body = await readBody(request);
    let decoded: DecodedRequest | undefined;
    try {
      decoded = decodeJsonRpc(request, body) ?? decodeRest(request, body);
    } catch (error) {
      return sendDecodingError(response, error);
    }
    if (!decoded) return sendProblem(response, 404, `${method} ${url} is not an operation of A2A.`);
    await this.#respond(request, response, decoded);
  }

  #sendCard({ headers: { host } }: IncomingMessage, response: ServerResponse): void {
    const { name, card } = this.#agent;
    if (!card) return sendProblem(response, 404, `The record contains no card of ${name}.`);
    const { card: rewritten } = rewriteCardUrls(removeGrpcInterfaces(card), (url) =>
      url.replace(/^https?:\/\/[^/?#]*/i, `http://${host}`),
    );
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" });
    response.end(JSON.stringify(rewritten));
  }

  async #respond(
    request: IncomingMessage,
    response: ServerResponse,
    { operation, params, encoder }: DecodedRequest,
  ): Promise<void> {
    const startMs = performance.now();
    const lastEventId = headerText(request, "last-event-id");
    const { after } = describeParams(operation, params, { header: () => lastEventId });
    const exchange = this.#matcher.match(operation, params, after);
    if (!exchange) return this.#refuse(response, operation, params, encoder);
    const waitUntil = async (offsetMs: number): Promise<void> => {
      const remainingMs = startMs + offsetMs * this.#msPerRecordedMs - performance.now();
      if (remainingMs > 1) await delay(remainingMs);
    };
    await waitUntil(exchange.response?.duration_ms ?? 0);
    if (isStreamingOperation(operation) && exchange.response?.is_stream)
      return await replayStream(exchange, response, encoder, waitUntil);
    // The recorded client received no response.
    if (exchange.response?.status === undefined) return void response.destroy();
    sendRecordedResponse(exchange, operation, response, encoder);
  }

  /** Replies to a request that was not recorded. */
  #refuse(
    response: ServerResponse,
    operation: OperationName,
    params: JsonObject,
    encoder: ReplayEncoder,
  ): void {
    const { name, exchanges } = this.#agent;
    const same = exchanges.filter((exchange) => exchange.operation === operation);
    const what = isObject(params["message"])
      ? `the message ${summarizeMessage(params)}`
      : `the task ${JSON.stringify(params["id"] ?? params["taskId"] ?? "")}`;
    const text = `The record of ${name} contains no ${operation} for ${what}. It contains ${same.length} other requests of this operation. Record the request with colloquy tap.`;
    this.#onMiss(text);
    const reason = isObject(params["message"]) ? "UNSUPPORTED_OPERATION" : "TASK_NOT_FOUND";
    const { status, body } = encoder.encodeError(new A2AError(reason, text));
    sendJson(response, status, encoder.mediaType, body);
  }
}

/** Replays a stream with its recorded times. A stream that broke in the record breaks again. */
async function replayStream(
  exchange: RecordedExchange,
  response: ServerResponse,
  encoder: ReplayEncoder,
  waitUntil: (offsetMs: number) => Promise<void>,
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
  for (const event of listReplayedEvents(exchange)) {
    await waitUntil(event.offsetMs);
    if (response.destroyed) return;
    writeReplayedEvent(response, encoder, event);
  }
  const { end, request } = exchange;
  if (end) await waitUntil(Math.max(0, end.mono_ms - request.mono_ms));
  if (end?.reason === "completed") response.end();
  else response.socket?.destroySoon();
}

function sendRecordedResponse(
  exchange: RecordedExchange,
  operation: OperationName,
  response: ServerResponse,
  encoder: ReplayEncoder,
): void {
  const { status, headers, body, error } = exchange.response ?? {};
  // A proxy or the tap sent this response instead of the agent.
  if (
    typeof status === "number" &&
    status >= 400 &&
    exchange.request.binding === "JSONRPC" &&
    !isObject(body)
  ) {
    const retryAfter = headers?.["retry-after"];
    const retryHeaders = retryAfter === undefined ? {} : { "retry-after": retryAfter };
    return sendProblem(response, status, error ?? `The recorded status is ${status}.`, retryHeaders);
  }
  try {
    const result = decodeRecordedResponse(operation, exchange);
    sendJson(response, 200, encoder.mediaType, encoder.encodeResult(operation, result));
  } catch (cause) {
    const encoded = encoder.encodeError(A2AError.from(cause));
    sendJson(response, encoded.status, encoder.mediaType, encoded.body);
  }
}

function decodeJsonRpc({ method }: IncomingMessage, body: string): DecodedRequest | undefined {
  if (method !== "POST" || !body.includes('"jsonrpc"')) return undefined;
  const { id, method: name, params } = decodeJsonRpcRequest(body);
  const v1Operation = v1.jsonRpcDialect.findOperation(name);
  const operation = v1Operation ?? v0_3.jsonRpcDialect.findOperation(name);
  if (!operation) {
    const error = new A2AError("METHOD_NOT_FOUND", `A2A has no method ${JSON.stringify(name.slice(0, 80))}.`);
    throw new JsonRpcRequestError(id, error);
  }
  const dialect = v1Operation ? v1.jsonRpcDialect : v0_3.jsonRpcDialect;
  const encoder = createJsonRpcReplayEncoder(dialect.version, id);
  return { operation, params: toJsonObject(dialect.decodeParams(operation, params)), encoder };
}

function decodeRest(request: IncomingMessage, body: string): DecodedRequest | undefined {
  const { method = "GET", url: target = "/" } = request;
  const match = matchRestOperation({ method, target, header: (name) => headerText(request, name) });
  if (!match) return undefined;
  const { dialect, operation, pathParams, query } = match;
  const json: unknown = body === "" ? undefined : JSON.parse(body);
  const params = dialect.decodeParams(operation, dialect.collectParams(operation, pathParams, query, json));
  return { operation, params: toJsonObject(params), encoder: createRestReplayEncoder(match) };
}

function sendDecodingError(response: ServerResponse, error: unknown): void {
  const isJsonRpc = error instanceof JsonRpcRequestError;
  const encoder = createJsonRpcReplayEncoder("1.0", isJsonRpc ? error.id : null);
  const { body } = encoder.encodeError(isJsonRpc ? error.error : A2AError.from(error));
  sendJson(response, isJsonRpc ? 200 : 400, encoder.mediaType, body);
}

function sendJson(response: ServerResponse, status: number, mediaType: string, body: string): void {
  response.writeHead(status, { "content-type": mediaType });
  response.end(body);
}

/** Removes the interfaces that the replay does not serve. */
function removeGrpcInterfaces(card: JsonObject): JsonObject {
  const rest = { ...card };
  for (const [list, binding] of [
    ["supportedInterfaces", "protocolBinding"],
    ["additionalInterfaces", "transport"],
  ] as const) {
    const interfaces = rest[list];
    if (Array.isArray(interfaces))
      rest[list] = interfaces.filter((item) => !isObject(item) || item[binding] !== "GRPC");
  }
  return rest;
}

function headerText({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_REQUEST_BYTES) throw new Error(`The request is longer than ${MAX_REQUEST_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
