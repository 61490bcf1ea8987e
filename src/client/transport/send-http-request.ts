import { A2AError, type OperationName, parseRetryAfter } from "../../protocol/index.ts";
import { fromRestError, type ProtocolVersion } from "../../wire/index.ts";
import type { Authorization } from "../auth/authorizer.ts";
import { getWallTimeMs } from "../clock.ts";
import type { TransportCallOptions, TransportOptions } from "./transport.ts";
import { createStreamIdleError, withDeadline } from "../http/deadline.ts";
import {
  fetchWithoutRedirects,
  readBoundedText,
  readTextPrefix,
  removeUrlQuery,
} from "../http/fetch-without-redirects.ts";

/** An HTTP request to a remote agent. */
export interface OutgoingRequest extends TransportCallOptions {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly accept: string;
  readonly contentType?: string;
  readonly body?: string;
}

/** Maximum number of bytes that the client reads of a response with an error status. */
const MAX_ERROR_BODY_BYTES = 64 * 2 ** 10;

/** Maximum size of an agent card in bytes. */
export const MAX_CARD_BYTES = 1_048_576;

/** Returns the limit for the response body of a request for an agent card. */
export function limitCardBytes({
  maxResponseBytes,
}: TransportOptions): Parameters<typeof readBoundedText>[0] {
  if (maxResponseBytes < MAX_CARD_BYTES) return { maxResponseBytes };
  return { maxResponseBytes: MAX_CARD_BYTES, advice: "No agent card may be larger." };
}

/**
 * Waits for the response to a request for a stream, or for the body of a response that is no stream. Rejects after the
 * time for which a stream may be silent.
 */
export function waitUntilStreamOpens<T>(
  { streamIdleMs }: TransportOptions,
  url: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  return withDeadline(
    streamIdleMs,
    signal,
    () => createStreamIdleError(new URL(url).origin, streamIdleMs),
    work,
  );
}

/** The `Accept` header value for JSON responses. */
export const JSON_MEDIA_TYPES = "application/a2a+json, application/json";

/** The header for requested and activated extensions, by protocol version (A2A §3.2.6, 0.3 §3.2). */
export const EXTENSIONS_HEADER: Readonly<Record<ProtocolVersion, string>> = {
  "1.0": "a2a-extensions",
  "0.3": "x-a2a-extensions",
};

/**
 * Sends one request to the agent with the common headers and credentials. If the agent responds with 401, the
 * request is sent again with renewed credentials, because a rejected request has no side effects.
 */
export async function sendRequest(options: TransportOptions, request: OutgoingRequest): Promise<Response> {
  const { authorizer } = options;
  if (!authorizer) return sendRequestOnce(options, request, undefined);
  const authorization = await authorizer.authorize(request.signal);
  const response = await sendRequestOnce(options, request, authorization);
  if (response.status !== 401 || !authorizer.invalidate(authorization)) return response;
  await response.body?.cancel();
  return sendRequestOnce(options, request, await authorizer.authorize(request.signal));
}

async function sendRequestOnce(
  options: TransportOptions,
  {
    method,
    url,
    accept,
    contentType,
    body,
    signal,
    headers: callHeaders,
    onExtensionsActivated,
    httpListener,
  }: OutgoingRequest,
  authorization: Authorization | undefined,
): Promise<Response> {
  const extensions = EXTENSIONS_HEADER[options.version];
  const headers = new Map<string, string>();
  // Later headers replace earlier ones, regardless of case. A `Map` is used because Node.js takes 20 ms to
  // load `Headers`.
  for (const headerGroup of [
    options.headers,
    authorization?.headers,
    callHeaders,
    { "a2a-version": options.version, accept },
    contentType === undefined ? undefined : { "content-type": contentType },
    options.extensions.length > 0 ? { [extensions]: options.extensions.join(", ") } : undefined,
  ]) {
    for (const [name, value] of Object.entries(headerGroup ?? {}))
      headers.set(name.toLowerCase(), requireValidHeader(name, value));
  }
  const sentHeaders = Object.fromEntries(headers);
  httpListener?.onRequest({ url, headers: sentHeaders, body });
  const response = await fetchWithoutRedirects(options.fetch, addQueryCredentials(url, authorization), {
    method,
    headers: sentHeaders,
    ...(body === undefined ? {} : { body }),
    ...(signal ? { signal } : {}),
  });
  httpListener?.onResponse(response);
  if (onExtensionsActivated && response.ok)
    onExtensionsActivated(parseHeaderList(response.headers.get(extensions)));
  return response;
}

/**
 * Throws if a header name or value is invalid. Without the check of header names and values, `fetch` would
 * throw an error that looks like a network failure.
 */
function requireValidHeader(name: string, value: string): string {
  // oxlint-disable-next-line no-control-regex -- the pattern has to match control characters
  if (/^[\w!#$%&'*+.^`|~-]+$/.test(name) && !/[^\t\u0020-\u007e\u0080-\u00ff]/.test(value)) return value;
  throw new TypeError(`The header ${JSON.stringify(name)} has a name or a value that HTTP does not allow.`);
}

function addQueryCredentials(url: string, authorization: Authorization | undefined): string {
  if (!authorization?.query) return url;
  const target = new URL(url);
  for (const [name, value] of Object.entries(authorization.query)) target.searchParams.set(name, value);
  return target.href;
}

/** Splits a comma-separated header value into its trimmed, non-empty elements. */
export function parseHeaderList(header: string | null | undefined): string[] {
  return (header ?? "").split(",").flatMap((uri) => uri.trim() || []);
}

/**
 * Reads a complete response, or the start of an error response. Rejects if the response is a stream, because a
 * stream might never end.
 */
export function readUnaryBody(
  options: TransportOptions,
  response: Response,
  { signal, operation }: { readonly signal?: AbortSignal | undefined; readonly operation: OperationName },
): Promise<string> {
  if (!isEventStream(response)) {
    if (!response.ok) return readTextPrefix(MAX_ERROR_BODY_BYTES, response, signal);
    const limit = operation === "GetExtendedAgentCard" ? limitCardBytes(options) : options;
    return readBoundedText(limit, response, signal);
  }
  void response.body?.cancel();
  return Promise.reject(toResponseError(response, undefined));
}

/** Returns whether a response is an SSE stream. */
export function isEventStream(response: Response): boolean {
  return response.headers.get("content-type")?.toLowerCase().startsWith("text/event-stream") ?? false;
}

/**
 * Creates the error for a response with an error status or with content that is neither JSON nor a stream.
 */
export function toResponseError(response: Response, body: unknown): A2AError {
  if (!response.ok) return fromRestError(response.status, body);
  const type = response.headers.get("content-type") ?? "no content type";
  const source = response.url ? removeUrlQuery(response.url) : "The agent";
  const message = `${source} answered ${response.status} with ${type} that is not an A2A response. Check the agent's URL.`;
  return new A2AError("INVALID_AGENT_RESPONSE", message);
}

/**
 * Sets the retry delay of an error from the `Retry-After` header, unless the error already has a retry delay.
 */
export function addRetryAfterToError(error: A2AError, response: Response): A2AError {
  const delayMs = parseRetryAfter(response.headers.get("retry-after"), getWallTimeMs());
  if (error.retryAfter !== undefined || delayMs === undefined) return error;
  const { reason, message, violations, metadata, details, code, cause } = error;
  const retryAfter = delayMs / 1_000;
  return new A2AError(reason, message, { violations, metadata, details, code, cause, retryAfter });
}
