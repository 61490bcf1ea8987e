import type { IncomingMessage, ServerResponse } from "node:http";
import { type A2AError, parseHostAndPort } from "../protocol/index.ts";
import type { ByteAccount } from "./byte-ledger/byte-ledger.ts";
import type { WriteStallWatch } from "./byte-ledger/write-stall-watch.ts";
import {
  closePipelinedResponseWithConnection,
  isEncryptedSocket,
  endResponseBeforeUnreadBody,
  isBodyUnread,
  parseRequestTarget,
  NodeResponseSink,
} from "./node-adapter.ts";
import { getBufferedBody } from "./read-node-body-text.ts";

/**
 * Converts a function from `Request` to `Response`, such as the result of `createWebhook`, to a `node:http`
 * listener. The listener streams the response body, and aborts the request's `AbortSignal` when the client
 * disconnects. For a server made with `createServer`, use `server.listener`, which is faster.
 */
export function toNodeListener(
  handler: (request: Request) => Promise<Response>,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  return (incoming, outgoing) => {
    closePipelinedResponseWithConnection(incoming, outgoing);
    void respondWithFetchHandler(handler, incoming, outgoing);
  };
}

/** Accounts for the bytes of a request, and disconnects clients that do not read. */
interface FetchHandlerGuards {
  readonly byteAccount?: ByteAccount | undefined;
  readonly stallWatch?: WriteStallWatch | undefined;
}

/** Responds to a `node:http` request with the response of a function from `Request` to `Response`. */
export async function respondWithFetchHandler(
  handler: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  guards: FetchHandlerGuards = {},
): Promise<void> {
  const { byteAccount } = guards;
  try {
    const disconnected = new AbortController();
    outgoing.once("close", () => {
      disconnected.abort();
      byteAccount?.close();
    });
    const request = createRequestOrUndefined(incoming, disconnected.signal, byteAccount);
    const response = request ? await handler(request) : createInvalidRequestResponse(incoming);
    const { status, headers, body } = response;
    const isEventStream = headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    // The handler of an event stream still uses the request, for example to send it to another server.
    if (!isEventStream) byteAccount?.releaseBodyBytes();
    outgoing.statusCode = status;
    outgoing.setHeaders(headers);
    if (status >= 400 && isBodyUnread(incoming)) {
      const text = await response.text();
      outgoing.setHeader("connection", "close");
      outgoing.setHeader("content-length", Buffer.byteLength(text));
      endResponseBeforeUnreadBody(outgoing, text, "utf8");
      return;
    }
    // A client of an event stream needs the headers at once, even before the first event.
    if (isEventStream) outgoing.flushHeaders();
    if (body) await writeFetchBody(body, outgoing, guards);
    else outgoing.end();
    incoming.resume();
  } catch {
    // The handler failed, or the client has disconnected.
    outgoing.destroy();
  }
}

/** Writes the body of a `Response`, as fast as the client reads. */
async function writeFetchBody(
  body: ReadableStream<Uint8Array>,
  outgoing: ServerResponse,
  { byteAccount, stallWatch }: FetchHandlerGuards,
): Promise<void> {
  const sink = new NodeResponseSink(outgoing, { byteAccount }, stallWatch);
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => {});
  sink.onClose(cancel);
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const refusal = sink.reserve(part.value.length);
    if (refusal) {
      cancel();
      sendRefusal(refusal, outgoing);
      return;
    }
    await sink.write(part.value);
  }
  sink.end();
}

function sendRefusal(refusal: A2AError, outgoing: ServerResponse): void {
  if (outgoing.headersSent) {
    outgoing.destroy();
    return;
  }
  for (const name of outgoing.getHeaderNames()) outgoing.removeHeader(name);
  const { message, retryAfter = 1 } = refusal;
  const headers = { "content-type": "application/json", "retry-after": String(retryAfter) };
  const body = { error: { code: 429, status: "RESOURCE_EXHAUSTED", message } };
  outgoing.writeHead(429, headers).end(JSON.stringify(body));
}

function getRequestBody(
  incoming: IncomingMessage,
  account: ByteAccount | undefined,
): Uint8Array<ArrayBuffer> | ReadableStream {
  const buffered = incoming.readableEnded ? getBufferedBody(incoming) : undefined;
  return buffered ? new Uint8Array(buffered) : ReadableStream.from(readCountedBody(incoming, account));
}

/** Yields the chunks of a request body while the handler reads them. The handler may stop, and still reply. */
async function* readCountedBody(
  incoming: IncomingMessage,
  account: ByteAccount | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    account?.reserveBodyBytes(chunk.length);
    yield new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
}

/** Returns `undefined` if `Request` does not support the request: an invalid Host header, or a method such as TRACE. */
function createRequestOrUndefined(
  incoming: IncomingMessage,
  signal: AbortSignal,
  account: ByteAccount | undefined,
): Request | undefined {
  try {
    return toRequest(incoming, signal, account);
  } catch {
    return undefined;
  }
}

function createInvalidRequestResponse({ method }: IncomingMessage): Response {
  const message = `The server does not support this ${method} request; send a valid Host header and another method.`;
  return Response.json({ error: { code: 400, status: "INVALID_ARGUMENT", message } }, { status: 400 });
}

function toRequest(
  incoming: IncomingMessage,
  signal: AbortSignal,
  account: ByteAccount | undefined,
): Request {
  const { method = "GET", url = "/", rawHeaders } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  const { authority = headers.get("host") ?? "localhost", path, query } = parseRequestTarget(url);
  if (!parseHostAndPort(authority)) throw new TypeError("The host of the request is invalid.");
  // A target in absolute form overrides the Host header, which handlers check (RFC 9112 §3.2.2).
  headers.set("host", authority);
  const scheme = isEncryptedSocket(incoming.socket) ? "https" : "http";
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(`${scheme}://${authority}${path}${query === "" ? "" : `?${query}`}`, {
    method,
    headers,
    signal,
    ...(hasBody ? { body: getRequestBody(incoming, account), duplex: "half" } : {}),
  });
}
