import { parseJsonOrUndefined } from "../../../protocol/index.ts";
import { parseSse } from "../../../wire/index.ts";
import type { JsonMap, RawRequest } from "./corpus.ts";
import { MISSING, readPath } from "./expressions.ts";
import {
  MAX_RESPONSE_BYTES,
  ResponseError,
  StreamedError,
  toStreamReply,
  type CallOptions,
  type Reply,
  type Transport,
} from "./transport.ts";
import {
  CARD_PATH,
  nameErrorByReason,
  nameJsonRpcError,
  OPERATIONS,
  type ObservedError,
} from "./wire-tables.ts";

interface HttpMessage {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
  readonly onChunk?: CallOptions["onChunk"];
}

/** Returns the URL of the card of an agent. `baseUrl` can already be the URL of the card. */
export function getCardUrl(baseUrl: string): string {
  const isCard = new URL(baseUrl).pathname.endsWith(".json");
  return isCard ? baseUrl : `${trimSlash(baseUrl)}${CARD_PATH}`;
}

/** Fetches the public agent card, which is an HTTP request on every binding. */
export async function fetchAgentCard(baseUrl: string, { headers, signal }: CallOptions): Promise<Reply> {
  const response = await sendHttp({
    method: "GET",
    url: getCardUrl(baseUrl),
    headers,
    signal,
  });
  const { status } = response;
  const reply = { status, headers: toHeaders(response), body: parseJsonOrUndefined(await response.text()) };
  if (status === 200 && reply.body !== undefined) return reply;
  const message = `The agent card is not available: HTTP ${status}.`;
  return { ...reply, error: { error_type: `HTTP ${status}`, message, details: [] } };
}

/** The JSON-RPC binding (A2A §9). */
export function createJsonRpcTransport(url: string): Transport {
  let requestCount = 0;
  return {
    async call(operation, params, { headers, signal, onChunk }) {
      const { rpc, isStream = false } = getOperation(operation);
      const request = { jsonrpc: "2.0", id: `acts-${++requestCount}`, method: rpc, params };
      const accept = isStream ? "text/event-stream" : "application/json";
      const response = await sendHttp({
        method: "POST",
        url,
        headers: { "content-type": "application/json", accept, ...headers },
        body: JSON.stringify(request),
        signal,
        onChunk,
      });
      return await readReply(response, isStream, unwrapJsonRpc);
    },
    sendRaw: (request, signal) => sendRawRequest(url, request, signal, (body) => readJsonRpcError(body)),
  };
}

function unwrapJsonRpc(envelope: unknown): Unwrapped {
  const error = readJsonRpcError(envelope);
  if (error) return { error };
  const result = readPath(envelope, "result");
  if (result === MISSING)
    throw new ResponseError("The response is not a JSON-RPC response with a result or an error.");
  return { body: result };
}

function readJsonRpcError(envelope: unknown): ObservedError | undefined {
  const code = readPath(envelope, "error.code");
  if (code === MISSING) return undefined;
  return {
    error_type: nameJsonRpcError(code),
    message: readPath(envelope, "error.message"),
    details: readPath(envelope, "error.data"),
  };
}

/** The HTTP+JSON binding (A2A §11). */
export function createRestTransport(url: string): Transport {
  return {
    async call(operation, params, { headers, signal, onChunk }) {
      const {
        http: [method, template],
        isStream = false,
      } = getOperation(operation);
      const { path, rest } = fillPath(template, params);
      const hasBody = method === "POST";
      const response = await sendHttp({
        method,
        url: `${trimSlash(url)}${path}${hasBody ? "" : formatQuery(rest)}`,
        headers: {
          accept: isStream ? "text/event-stream" : "application/a2a+json",
          ...(hasBody ? { "content-type": "application/a2a+json" } : {}),
          ...headers,
        },
        body: hasBody ? JSON.stringify(rest) : undefined,
        signal,
        onChunk,
      });
      return await readReply(response, isStream, (body) => {
        const error = readRestError(response.status, body);
        return error ? { error } : { body };
      });
    },
    sendRaw: (request, signal) =>
      sendRawRequest(url, request, signal, (body, status) => readRestError(status, body)),
  };
}

function readRestError(status: number, body: unknown): ObservedError | undefined {
  // An error can also be an event of a stream.
  if (status < 400 && readPath(body, "error.code") === MISSING) return undefined;
  const details = readPath(body, "error.details");
  return {
    error_type: nameErrorByReason(details, "http", status),
    message: readPath(body, "error.message"),
    details,
  };
}

function fillPath(template: string, params: JsonMap): { path: string; rest: JsonMap } {
  const rest = { ...params };
  const path = template.replaceAll(/\{(\w+)\}/g, (_placeholder, name: string) => {
    const value = rest[name];
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  return { path, rest };
}

function formatQuery(params: JsonMap): string {
  const query = new URLSearchParams(
    Object.entries(params).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return query.size === 0 ? "" : `?${query.toString()}`;
}

interface Unwrapped {
  readonly body?: unknown;
  readonly error?: ObservedError;
}

async function readReply(
  response: HttpResponse,
  isStream: boolean,
  unwrap: (json: unknown) => Unwrapped,
): Promise<Reply> {
  const base = { status: response.status, headers: toHeaders(response) };
  if (isStream && isEventStream(response))
    return await toStreamReply(base, unwrapEvents(readServerSentEvents(response), unwrap));
  const text = await response.text();
  const json = parseJsonOrUndefined(text);
  // A successful request to delete something needs no body, and gateways refuse requests with any body.
  const isRefusal = base.status === 401 || base.status === 403;
  if (json === undefined && !isRefusal && (response.status >= 300 || text !== ""))
    throw new ResponseError(`The response with HTTP ${response.status} is not JSON: ${text.slice(0, 100)}`);
  if (isRefusal && readPath(json, "error.code") === MISSING) {
    const error = { error_type: `HTTP ${base.status}`, message: text.slice(0, 200), details: [] };
    return { ...base, body: undefined, error };
  }
  const unwrapped = json === undefined ? {} : unwrap(json);
  if (isStream && !unwrapped.error)
    throw new ResponseError(`The stream has the content type ${base.headers["content-type"] ?? "(none)"}.`);
  return { ...base, body: unwrapped.body, error: unwrapped.error };
}

async function* unwrapEvents(
  events: AsyncIterable<unknown>,
  unwrap: (json: unknown) => Unwrapped,
): AsyncIterable<unknown> {
  for await (const event of events) {
    const { body, error } = unwrap(event);
    if (error) throw new StreamedError(error);
    yield body;
  }
}

async function sendRawRequest(
  url: string,
  { method, path, headers = {}, body, body_raw: text }: RawRequest,
  signal: AbortSignal,
  readError: (body: unknown, status: number) => ObservedError | undefined,
): Promise<Reply> {
  const response = await sendHttp({
    method,
    // The path `/` of a raw step is the URL of the interface.
    url: path === "/" ? url : `${trimSlash(url)}${path}`,
    headers,
    body: text ?? (body === undefined ? undefined : JSON.stringify(body)),
    signal,
  });
  const base = { status: response.status, headers: toHeaders(response) };
  if (isEventStream(response)) return { ...base, body: undefined, events: readServerSentEvents(response) };
  const json = parseJsonOrUndefined(await response.text());
  return { ...base, body: json, error: readError(json, response.status) };
}

type HttpResponse = Pick<Response, "status" | "headers" | "body" | "text">;

/**
 * Sends a request without following redirects, because a redirect is the response of the server. A body of more than
 * `MAX_RESPONSE_BYTES` rejects.
 */
export async function sendHttp({ url, onChunk, ...message }: HttpMessage): Promise<HttpResponse> {
  try {
    const { status, headers, body } = await fetch(url, {
      ...message,
      body: message.body ?? null,
      redirect: "manual",
    });
    const limited = body && limitBytes(body, onChunk);
    return { status, headers, body: limited, text: () => new Response(limited).text() };
  } catch (error) {
    if (message.signal.aborted) throw message.signal.reason;
    const cause =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new ResponseError(`${message.method} ${url} failed: ${cause}`);
  }
}

function limitBytes(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  onChunk: CallOptions["onChunk"],
): typeof body {
  let bytes = 0;
  const decoder = new TextDecoder();
  const limit = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      onChunk?.(decoder.decode(chunk, { stream: true }));
      if (bytes <= MAX_RESPONSE_BYTES) controller.enqueue(chunk);
      else controller.error(new ResponseError(`The response has more than ${MAX_RESPONSE_BYTES} bytes.`));
    },
  });
  return body.pipeThrough(limit);
}

/** Reads the data of server-sent events as JSON. */
async function* readServerSentEvents({ body }: HttpResponse): AsyncIterable<unknown> {
  if (!body) return;
  for await (const { data } of parseSse(body)) {
    const json = parseJsonOrUndefined(data);
    if (json === undefined) throw new ResponseError(`An event is not JSON: ${data.slice(0, 100)}`);
    yield json;
  }
}

function isEventStream(response: HttpResponse): boolean {
  return (response.headers.get("content-type") ?? "").startsWith("text/event-stream");
}

function toHeaders(response: HttpResponse): Record<string, string> {
  return Object.fromEntries(response.headers);
}

function getOperation(name: string): (typeof OPERATIONS)[string] {
  const operation = OPERATIONS[name];
  if (!operation) throw new Error(`The operation ${name} is unknown.`);
  return operation;
}

function trimSlash(url: string): string {
  return url.endsWith("/") ? url.slice(0, -1) : url;
}
