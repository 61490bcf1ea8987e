import type { IncomingMessage, ServerResponse } from "node:http";
import {
  A2AError,
  isObject,
  isStreamingOperation,
  type JsonObject,
  type OperationName,
  isLoopbackHost,
} from "../../../protocol/index.ts";
import { decodeJsonRpcRequest, JsonRpcRequestError } from "../../../wire/index.ts";
import * as v0_3 from "../../../wire/v0_3/index.ts";
import * as v1 from "../../../wire/v1/index.ts";
import { sendProblem } from "../http/send-problem.ts";
import { matchRestOperation } from "../recording/call-description.ts";
import type { AgentReplay, ReplayAddresses, ReplayedCall } from "./agent-replay.ts";
import { toJsonObject } from "./decode-recorded-params.ts";
import {
  createJsonRpcReplayEncoder,
  createRestReplayEncoder,
  decodeReplayedResult,
  listReplayedEvents,
  type ReplayEncoder,
  writeReplayedEvent,
} from "./replay-response.ts";

/** Maximum length of a request body in bytes. */
export const MAX_REPLAY_REQUEST_BYTES: number = 16 * 2 ** 20;

/** The operation of a request, its parameters in the form of A2A 1.0, and the encoder of the response. */
interface DecodedRequest {
  readonly operation: OperationName;
  readonly params: JsonObject;
  readonly encoder: ReplayEncoder;
}

/** Serves a recorded agent over JSON-RPC and HTTP+JSON. */
export class HttpReplay {
  readonly #replay: AgentReplay;
  /** Returns the addresses of the replay for a client that sent this Host header. */
  readonly #resolveAddresses: (host: string) => ReplayAddresses;

  constructor(replay: AgentReplay, resolveAddresses: (host: string) => ReplayAddresses) {
    this.#replay = replay;
    this.#resolveAddresses = resolveAddresses;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = "/", method, headers } = request;
    // A web page with a rebound host name could otherwise read the record.
    if (!isLoopbackHost(URL.parse(`http://${headers.host}`)?.hostname ?? ""))
      return sendProblem(response, 403, "The replay accepts only loopback hosts.");
    const addresses = this.#resolveAddresses(headers.host ?? "");
    if (method === "GET" && /\/\.well-known\/agent(-card)?\.json(\?|$)/.test(url))
      return this.#sendCard(addresses, response);
    const body = await readBody(request);
    let decoded: DecodedRequest | undefined;
    try {
      decoded = decodeJsonRpc(request, body) ?? decodeRest(request, body);
    } catch (error) {
      return sendDecodingError(response, error);
    }
    if (!decoded) return sendProblem(response, 404, `${method} ${url} is not an operation of A2A.`);
    await this.#respond(request, response, decoded, addresses);
  }

  #sendCard(addresses: ReplayAddresses, response: ServerResponse): void {
    const card = this.#replay.buildCard(addresses);
    if (!card) return sendProblem(response, 404, `The record contains no card of ${this.#replay.agentName}.`);
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" });
    response.end(JSON.stringify(card));
  }

  async #respond(
    request: IncomingMessage,
    response: ServerResponse,
    { operation, params, encoder }: DecodedRequest,
    addresses: ReplayAddresses,
  ): Promise<void> {
    const closed = new AbortController();
    response.once("close", () => closed.abort());
    let call: ReplayedCall;
    try {
      call = this.#replay.startCall(operation, params, (name) => headerText(request, name), closed.signal);
    } catch (error) {
      return sendError(response, encoder, error);
    }
    const recorded = call.exchange.response;
    if (!(await call.waitUntil(recorded?.duration_ms ?? 0))) return;
    if (isStreamingOperation(operation) && recorded?.is_stream) await replayStream(call, response, encoder);
    // The recorded client received no response.
    else if (recorded?.status === undefined) response.destroy();
    else sendRecordedResponse(call, operation, response, encoder, addresses);
  }
}

/** Replays a stream with its recorded times. A stream that broke in the record breaks again. */
async function replayStream(
  { exchange, waitUntil }: ReplayedCall,
  response: ServerResponse,
  encoder: ReplayEncoder,
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
  for (const event of listReplayedEvents(exchange)) {
    if (!(await waitUntil(event.offsetMs))) return;
    writeReplayedEvent(response, encoder, event);
  }
  const { end, request } = exchange;
  if (end) await waitUntil(Math.max(0, end.mono_ms - request.mono_ms));
  if (end?.reason === "completed") response.end();
  else response.socket?.destroySoon();
}

function sendRecordedResponse(
  { exchange }: ReplayedCall,
  operation: OperationName,
  response: ServerResponse,
  encoder: ReplayEncoder,
  addresses: ReplayAddresses,
): void {
  const { status, headers, body, error } = exchange.response ?? {};
  // A proxy or the tap sent this response instead of the agent.
  if (
    typeof status === "number" &&
    status >= 400 &&
    exchange.request.binding === "JSONRPC" &&
    exchange.vantage !== "server" &&
    !isObject(body)
  ) {
    const retryAfter = headers?.["retry-after"];
    const retryHeaders = retryAfter === undefined ? {} : { "retry-after": retryAfter };
    return sendProblem(response, status, error ?? `The recorded status is ${status}.`, retryHeaders);
  }
  try {
    const result = decodeReplayedResult(operation, exchange, addresses);
    sendJson(response, 200, encoder.mediaType, encoder.encodeResult(operation, result));
  } catch (cause) {
    sendError(response, encoder, cause);
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

function sendError(response: ServerResponse, encoder: ReplayEncoder, error: unknown): void {
  const { status, body } = encoder.encodeError(A2AError.from(error));
  sendJson(response, status, encoder.mediaType, body);
}

function sendJson(response: ServerResponse, status: number, mediaType: string, body: string): void {
  response.writeHead(status, { "content-type": mediaType });
  response.end(body);
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
    if (size > MAX_REPLAY_REQUEST_BYTES)
      throw new Error(`The request is longer than ${MAX_REPLAY_REQUEST_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
