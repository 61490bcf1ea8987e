import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { getBufferedBody } from "./node-adapter.ts";

/**
 * For `node:http` and what is built on it: anything that answers `Request` with `Response`, such as a webhook of `createWebhook`.
 * A body that is a stream goes out as it comes; the request's signal aborts when nobody is left to read. (A server of
 * agents has a faster `listener` of its own.)
 */
export function toNodeListener(
  answer: (request: Request) => Promise<Response>,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  return (incoming, outgoing) => {
    void (async (): Promise<void> => {
      try {
        const left = new AbortController();
        outgoing.once("close", () => left.abort());
        const { status, headers, body } = await answer(toRequest(incoming, left.signal));
        outgoing.statusCode = status;
        outgoing.setHeaders(headers);
        // Whoever opens a stream of events wants to know that it is open, also when nothing happens yet.
        if (headers.get("content-type")?.startsWith("text/event-stream")) outgoing.flushHeaders();
        if (body) await pipeline(Readable.fromWeb(body), outgoing);
        else outgoing.end();
        incoming.resume();
      } catch {
        // Not a request that can be answered, or nobody is left to answer.
        outgoing.destroy();
      }
    })();
  };
}

/** What is still to be read; or what was, where a parser of the host has kept it. */
function getRequestBody(incoming: IncomingMessage): Uint8Array<ArrayBuffer> | ReadableStream {
  const kept = incoming.readableEnded ? getBufferedBody(incoming) : undefined;
  return kept ? new Uint8Array(kept) : Readable.toWeb(incoming);
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = "GET", url = "/", rawHeaders } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  const scheme = "encrypted" in incoming.socket ? "https" : "http";
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(`${scheme}://${headers.get("host") ?? "localhost"}${url}`, {
    method,
    headers,
    signal,
    ...(hasBody ? { body: getRequestBody(incoming), duplex: "half" } : {}),
  });
}
