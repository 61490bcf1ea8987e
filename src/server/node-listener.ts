import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";

/**
 * For `node:http` and what is built on it: anything that answers `Request` with `Response`, such as a webhook of `createWebhook`.
 * (A server of agents has a faster `listener` of its own.)
 */
export function nodeListener(
  answer: (request: Request) => Promise<Response>,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  return (incoming, outgoing) => {
    void (async (): Promise<void> => {
      try {
        const response = await answer(toRequest(incoming));
        const body = Buffer.from(await response.arrayBuffer());
        outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(body);
        incoming.resume();
      } catch {
        // Not a request that can be answered, or nobody is left to answer.
        outgoing.destroy();
      }
    })();
  };
}

function toRequest(incoming: IncomingMessage): Request {
  const { method = "GET", url = "/", rawHeaders } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  const scheme = "encrypted" in incoming.socket ? "https" : "http";
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(`${scheme}://${headers.get("host") ?? "localhost"}${url}`, {
    method,
    headers,
    ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: "half" } : {}),
  });
}
