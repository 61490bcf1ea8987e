import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { getBufferedBody } from "./read-node-body-text.ts";
import { parseRequestTarget } from "./request-target.ts";

/**
 * Converts a function from `Request` to `Response`, such as the result of `createWebhook`, to a `node:http`
 * listener. The listener streams the response body, and aborts the request's `AbortSignal` when the client
 * disconnects. For a server made with `createServer`, use `server.listener`, which is faster.
 */
export function toNodeListener(
  handler: (request: Request) => Promise<Response>,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  return (incoming, outgoing) => {
    void (async (): Promise<void> => {
      try {
        const disconnected = new AbortController();
        outgoing.once("close", () => disconnected.abort());
        const request = createRequestOrUndefined(incoming, disconnected.signal);
        const response = request ? await handler(request) : createInvalidRequestResponse(incoming);
        const { status, headers, body } = response;
        outgoing.statusCode = status;
        outgoing.setHeaders(headers);
        // A client of an event stream needs the headers at once, even before the first event.
        if (headers.get("content-type")?.startsWith("text/event-stream")) outgoing.flushHeaders();
        if (body) await pipeline(Readable.fromWeb(body), outgoing);
        else outgoing.end();
        incoming.resume();
      } catch {
        // The handler failed, or the client has disconnected.
        outgoing.destroy();
      }
    })();
  };
}

function getRequestBody(incoming: IncomingMessage): Uint8Array<ArrayBuffer> | ReadableStream {
  const buffered = incoming.readableEnded ? getBufferedBody(incoming) : undefined;
  return buffered ? new Uint8Array(buffered) : Readable.toWeb(incoming);
}

/** Returns `undefined` if `Request` does not support the request: an invalid Host header, or a method such as TRACE. */
function createRequestOrUndefined(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  try {
    return toRequest(incoming, signal);
  } catch {
    return undefined;
  }
}

function createInvalidRequestResponse({ method }: IncomingMessage): Response {
  const message = `The server does not support this ${method} request; send a valid Host header and another method.`;
  return Response.json({ error: { code: 400, status: "INVALID_ARGUMENT", message } }, { status: 400 });
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = "GET", url = "/", rawHeaders } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  const { authority = headers.get("host") ?? "localhost", path, query } = parseRequestTarget(url);
  const scheme = "encrypted" in incoming.socket ? "https" : "http";
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(`${scheme}://${authority}${path}${query === "" ? "" : `?${query}`}`, {
    method,
    headers,
    signal,
    ...(hasBody ? { body: getRequestBody(incoming), duplex: "half" } : {}),
  });
}
