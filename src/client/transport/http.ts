import { A2AError } from "../../protocol/index.ts";
import { fromRestError, parseRetryAfter, type ProtocolVersion } from "../../wire/index.ts";
import type { Authorization, Authorizer } from "../auth/authorizer.ts";
import { fetchWithoutRedirects, readBoundedText, withoutQuery } from "../http/fetch.ts";

/** How requests are made: the same for all of a remote agent. */
export interface TransportOptions {
  readonly fetch: typeof fetch;
  readonly headers: Readonly<Record<string, string>>;
  /** Named with every request (A2A §3.6.1); a server of 0.3 knows no such header and ignores it. */
  readonly version: ProtocolVersion;
  /** The extensions that are asked for with every request. */
  readonly extensions: readonly string[];
  /** Signs requests to the agent; there is none for those that look for its card. */
  readonly authorizer?: Authorizer;
  /** The largest body of an answer that is not a stream. */
  readonly maxResponseBytes: number;
  /** The largest single event of a stream. */
  readonly maxEventBytes: number;
  /** How gRPC connects; the other bindings have `fetch`. */
  readonly grpc?: GrpcClientOptions;
}

/** How gRPC connects. */
export interface GrpcClientOptions {
  /** Default: true, but for this machine and for addresses that begin with `grpc:` or `http:`. */
  readonly tls?: boolean;
  /** Who vouches for the server, as PEM. Default: whom Node trusts. */
  readonly ca?: string;
  /** A certificate and its key, as PEM, for a server that asks who calls. */
  readonly cert?: string;
  readonly key?: string;
  /** True: whoever answers is believed. For development. Default: false. */
  readonly insecure?: boolean;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Told once the agent answers: which of the extensions that were asked for it has activated. */
  readonly onExtensionsActivated?: ((extensions: readonly string[]) => void) | undefined;
}

export interface OutgoingRequest extends CallOptions {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly accept: string;
  readonly contentType?: string;
  readonly body?: string;
}

export const JSON_MEDIA_TYPES = "application/a2a+json, application/json";

/** How each version names the header in which extensions are asked for and confirmed (A2A §3.2.6; 0.3 §3.2). */
export const EXTENSIONS_HEADER: Readonly<Record<ProtocolVersion, string>> = {
  "1.0": "a2a-extensions",
  "0.3": "x-a2a-extensions",
};

/**
 * Sends one request to the agent, with all that belongs to each. Refused as unauthenticated, it is sent once more with
 * credentials that were renewed: nothing was done with the first.
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
  }: OutgoingRequest,
  authorization: Authorization | undefined,
): Promise<Response> {
  const extensions = EXTENSIONS_HEADER[options.version];
  const headers = new Map<string, string>();
  // The last of a name counts, in whatever spelling. No `Headers`: Node takes 20 ms to load it.
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
  const response = await fetchWithoutRedirects(options.fetch, addQueryCredentials(url, authorization), {
    method,
    headers: Object.fromEntries(headers),
    ...(body === undefined ? {} : { body }),
    ...(signal ? { signal } : {}),
  });
  if (onExtensionsActivated && response.ok)
    onExtensionsActivated(parseHeaderList(response.headers.get(extensions)));
  return response;
}

/** What can stand in a header; refused here, because the network would be blamed for it later. */
function requireValidHeader(name: string, value: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/^[\w!#$%&'*+.^`|~-]+$/.test(name) && !/[^\t\u0020-\u007e\u0080-\u00ff]/.test(value)) return value;
  throw new TypeError(`The header ${JSON.stringify(name)} has a name or a value that HTTP can not carry.`);
}

function addQueryCredentials(url: string, authorization: Authorization | undefined): string {
  if (!authorization?.query) return url;
  const target = new URL(url);
  for (const [name, value] of Object.entries(authorization.query)) target.searchParams.set(name, value);
  return target.href;
}

export function parseHeaderList(header: string | null | undefined): string[] {
  return (header ?? "").split(",").flatMap((uri) => uri.trim() || []);
}

/** The whole body of an answer that is no stream: one would never end. */
export function readUnaryBody(
  options: TransportOptions,
  response: Response,
  signal?: AbortSignal,
): Promise<string> {
  if (!isEventStream(response)) return readBoundedText(options, response, signal);
  void response.body?.cancel();
  return Promise.reject(toResponseError(response, undefined));
}

export function isEventStream(response: Response): boolean {
  return response.headers.get("content-type")?.toLowerCase().startsWith("text/event-stream") ?? false;
}

/** An answer that no binding knows: an error status, or a success that says nothing we can read. */
export function toResponseError(response: Response, body: unknown): A2AError {
  if (!response.ok) return fromRestError(response.status, body);
  const type = response.headers.get("content-type") ?? "no content type";
  const source = response.url ? withoutQuery(response.url) : "The agent";
  const message = `${source} answered ${response.status} with ${type} that is not an A2A answer; is this the agent's URL?`;
  return new A2AError("INVALID_AGENT_RESPONSE", message);
}

/** The error with the `Retry-After` of its response, unless it says itself when to retry. */
export function withRetryAfter(error: A2AError, response: Response): A2AError {
  const delayMs = parseRetryAfter(response.headers.get("retry-after"), Date.now());
  if (error.retryAfter !== undefined || delayMs === undefined) return error;
  const { violations, metadata, details, cause } = error;
  const retryAfter = delayMs / 1_000;
  return new A2AError(error.reason, error.message, { violations, metadata, details, cause, retryAfter });
}
