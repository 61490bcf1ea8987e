import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { Readable } from "node:stream";
import { A2AError } from "../../protocol/index.ts";
import { WebhookNotAllowedError, WebhookUrlGuard, type WebhookUrlGuardOptions } from "./webhook-url-guard.ts";
import type { LookupAddress, LookupOptions } from "node:dns";
import { isIPv6, type LookupFunction } from "node:net";

/** Maximum time in milliseconds for the DNS lookup and the connection. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Creates a `fetch` function for URLs that users of this process choose. The function follows the rules for webhook
 * URLs: it connects only to public hosts and to the private hosts of `options`, and rejects with PERMISSION_DENIED
 * otherwise. The function follows no redirects, and does not reuse connections.
 */
export function createGuardedFetch(options: WebhookUrlGuardOptions): typeof fetch {
  const guard = new WebhookUrlGuard(options);
  return async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const violation = guard.findUrlViolation(request.url);
    if (violation !== undefined) throw createHostNotAllowedError(url, violation);
    const body = request.body ? Buffer.from(await request.arrayBuffer()) : undefined;
    const response = await sendGuardedRequest(guard, url, request, body);
    return toResponse(response, request.url);
  };
}

function sendGuardedRequest(
  guard: WebhookUrlGuard,
  url: URL,
  { method, headers, signal }: Request,
  body: Buffer | undefined,
): Promise<IncomingMessage> {
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const outgoing = send(url, {
      method,
      signal,
      agent: false,
      headers: { ...Object.fromEntries(headers), ...(body ? { "content-length": body.length } : {}) },
      lookup: createGuardedLookup(guard, "console"),
    });
    const timer = setTimeout(
      () => outgoing.destroy(new Error(`no connection within ${CONNECT_TIMEOUT_MS} ms`)),
      CONNECT_TIMEOUT_MS,
    );
    outgoing.on("socket", (socket) =>
      socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => clearTimeout(timer)),
    );
    outgoing.once("response", resolve);
    outgoing.once("close", () => clearTimeout(timer));
    outgoing.once("error", (error) =>
      reject(
        error instanceof WebhookNotAllowedError
          ? createHostNotAllowedError(url, error.description)
          : new TypeError("fetch failed", { cause: error }),
      ),
    );
    outgoing.end(body);
  });
}

function toResponse(incoming: IncomingMessage, url: string): Response {
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct))
    for (const value of values ?? []) headers.append(name, value);
  const { statusCode: status = 500, statusMessage: statusText = "" } = incoming;
  const hasBody = status !== 204 && status !== 205 && status !== 304;
  if (!hasBody) incoming.resume();
  const body = hasBody ? (Readable.toWeb(incoming) as ReadableStream<Uint8Array>) : null;
  return Object.defineProperty(new Response(body, { status, statusText, headers }), "url", { value: url });
}

function createHostNotAllowedError(url: URL, description: string): A2AError {
  // The remedy in the description is for webhooks.
  const [problem] = description.split(";");
  return new A2AError(
    "PERMISSION_DENIED",
    `The URL ${url.origin} ${problem}; pass the URL when you start the console, or allow private hosts (--allow-private-agents, or allowPrivate of createConsole).`,
  );
}

/**
 * Creates a DNS lookup function that returns only addresses that the URL guard allows. The lookups use the fair share of
 * `owner`.
 */
export function createGuardedLookup(guard: WebhookUrlGuard, owner: string): LookupFunction {
  return (hostname, options, callback) =>
    void lookUpAllowedAddresses(
      () => guard.resolveAllowedAddresses(hostname, owner),
      hostname,
      options,
      callback,
    );
}

async function lookUpAllowedAddresses(
  resolveAllowedAddresses: () => Promise<readonly string[]>,
  hostname: string,
  { all, family }: LookupOptions,
  callback: Parameters<LookupFunction>[2],
): Promise<void> {
  let candidates: LookupAddress[];
  try {
    const addresses = await resolveAllowedAddresses();
    candidates = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  } catch (error) {
    callback(error as NodeJS.ErrnoException, "");
    return;
  }
  const matching = candidates.filter(
    (address) => !family || family === address.family || family === `IPv${address.family}`,
  );
  const [first] = matching;
  if (!first) callback(new Error(`${hostname} has no IPv${family} address`), "");
  else if (all) callback(null, matching);
  else callback(null, first.address, first.family);
}
