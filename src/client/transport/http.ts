import { A2AError } from "../../protocol/index.ts";
import { fromRestError, type ProtocolVersion } from "../../wire/index.ts";
import type { GrpcClientOptions } from "./grpc-transport.ts";
import type { Authorization, Authorizer } from "../auth/authorizer.ts";

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
export async function sendRequest(http: TransportOptions, outgoing: OutgoingRequest): Promise<Response> {
  const { authorizer } = http;
  if (!authorizer) return sendRequestOnce(http, outgoing, undefined);
  const authorization = await authorizer.authorize(outgoing.signal);
  const response = await sendRequestOnce(http, outgoing, authorization);
  if (response.status !== 401 || !authorizer.invalidate(authorization)) return response;
  await response.body?.cancel();
  return sendRequestOnce(http, outgoing, await authorizer.authorize(outgoing.signal));
}

async function sendRequestOnce(
  http: TransportOptions,
  {
    method,
    url,
    accept,
    contentType,
    body,
    signal,
    headers: own,
    onExtensionsActivated: onActivated,
  }: OutgoingRequest,
  authorization: Authorization | undefined,
): Promise<Response> {
  const extensions = EXTENSIONS_HEADER[http.version];
  const headers = new Map<string, string>();
  // The last of a name counts, in whatever spelling. No `Headers`: Node takes 20 ms to load it.
  for (const more of [
    http.headers,
    authorization?.headers,
    own,
    { "a2a-version": http.version, accept },
    contentType === undefined ? undefined : { "content-type": contentType },
    http.extensions.length > 0 ? { [extensions]: http.extensions.join(", ") } : undefined,
  ]) {
    for (const [name, value] of Object.entries(more ?? {}))
      headers.set(name.toLowerCase(), requireValidHeader(name, value));
  }
  const response = await fetchWithoutRedirects(http.fetch, addQueryCredentials(url, authorization), {
    method,
    headers: Object.fromEntries(headers),
    ...(body === undefined ? {} : { body }),
    ...(signal ? { signal } : {}),
  });
  if (onActivated && response.ok) onActivated(parseHeaderList(response.headers.get(extensions)));
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
  const asked = new URL(url);
  for (const [name, value] of Object.entries(authorization.query)) asked.searchParams.set(name, value);
  return asked.href;
}

export function parseHeaderList(header: string | null | undefined): string[] {
  return (header ?? "").split(",").flatMap((uri) => uri.trim() || []);
}

/**
 * `fetch`, but it rejects with UNAVAILABLE when nobody answers, and refuses redirects: credentials are for whom they
 * were given for, and not for whomever that one points to.
 */
export async function fetchWithoutRedirects(
  send: typeof fetch,
  url: string,
  init: RequestInit & { readonly signal?: AbortSignal },
): Promise<Response> {
  let response: Response;
  try {
    response = await untilAborted(send(url, { ...init, redirect: "manual" }), init.signal);
  } catch (cause) {
    throw toNetworkError(cause, init.signal, `No answer from ${new URL(url).origin}`);
  }
  const { status, type } = response;
  if (type !== "opaqueredirect" && (status < 300 || status >= 400 || status === 304)) return response;
  await response.body?.cancel();
  const target = response.headers.get("location") ?? "elsewhere";
  const message = `${withoutQuery(url)} redirects to ${target}; connect to that address if you trust it.`;
  throw new A2AError("INVALID_AGENT_RESPONSE", message);
}

/**
 * What `fetch` answers, or a rejection as soon as the signal aborts. It should do that by itself; but where a signal goes
 * through a `Request` that is collected meanwhile, it waits for ever.
 */
function untilAborted(answer: Promise<Response>, signal: AbortSignal | undefined): Promise<Response> {
  if (!signal) return answer;
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error);
      // Nobody waits for it any more.
      answer.then(({ body }) => body?.cancel()).catch(() => {});
    };
    const forget = (): void => signal.removeEventListener("abort", abort);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    answer.then(resolve, reject).finally(forget);
  });
}

/** A URL for people: an API key may be in its query. */
function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** The whole body of an answer that is no stream: one would never end. */
export function readUnaryBody(
  http: TransportOptions,
  response: Response,
  signal?: AbortSignal,
): Promise<string> {
  if (!isEventStream(response)) return readBoundedText(http, response, signal);
  void response.body?.cancel();
  return Promise.reject(toResponseError(response, undefined));
}

/** The whole body; rejects with INVALID_AGENT_RESPONSE past the bound. */
export async function readBoundedText(
  http: Pick<TransportOptions, "maxResponseBytes">,
  response: Response,
  signal?: AbortSignal,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const bytes of readChunks(response, signal)) {
    size += bytes.length;
    if (size > http.maxResponseBytes) {
      const message = `The agent's answer is larger than ${http.maxResponseBytes} bytes; raise maxResponseBytes if that is right.`;
      throw new A2AError("INVALID_AGENT_RESPONSE", message);
    }
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * The body as it comes; a connection that breaks is UNAVAILABLE. Returning early closes it, and so does the signal, which
 * is listened to here too: one that was given to `fetch` by way of a `Request` is lost when that is collected, in the
 * middle of a stream.
 */
export async function* readChunks(
  response: Response,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const close = (): void => void reader.cancel().catch(() => {});
  signal?.addEventListener("abort", close, { once: true });
  if (signal?.aborted) close();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } catch (cause) {
    throw toNetworkError(cause, signal, `The connection to ${getResponseOrigin(response)} broke`);
  } finally {
    signal?.removeEventListener("abort", close);
    close();
  }
  if (signal?.aborted) throw signal.reason;
}

function getResponseOrigin(response: Response): string {
  return URL.canParse(response.url) ? new URL(response.url).origin : "the agent";
}

/** JSON, or undefined for what is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

export function isEventStream(response: Response): boolean {
  return response.headers.get("content-type")?.toLowerCase().startsWith("text/event-stream") ?? false;
}

/** An answer that no binding knows: an error status, or a success that says nothing we can read. */
export function toResponseError(response: Response, body: unknown): A2AError {
  if (!response.ok) return fromRestError(response.status, body);
  const type = response.headers.get("content-type") ?? "no content type";
  const where = response.url ? withoutQuery(response.url) : "The agent";
  const message = `${where} answered ${response.status} with ${type} that is not an A2A answer; is this the agent's URL?`;
  return new A2AError("INVALID_AGENT_RESPONSE", message);
}

/** The error with the `Retry-After` of its response, unless it says itself when to retry. */
export function withRetryAfter(error: A2AError, response: Response): A2AError {
  const retryAfter = parseRetryAfterSeconds(response.headers.get("retry-after"), Date.now());
  if (error.retryAfter !== undefined || retryAfter === undefined) return error;
  const { violations, metadata, details, cause } = error;
  return new A2AError(error.reason, error.message, { violations, metadata, details, cause, retryAfter });
}

/** Seconds, or a date (RFC 9110 §10.2.3); undefined for what is neither, and for what has passed. */
function parseRetryAfterSeconds(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const seconds = /^\d{1,9}$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1_000;
  return seconds >= 0 ? seconds : undefined;
}

/** What the caller aborted is thrown as the caller said; everything else is the network's fault. */
function toNetworkError(cause: unknown, signal: AbortSignal | undefined, what: string): unknown {
  if (signal?.aborted) return signal.reason;
  if (cause instanceof A2AError) return cause;
  return new A2AError(
    "UNAVAILABLE",
    `${what} (${getFetchErrorReason(cause)}); is the agent running and reachable?`,
    {
      cause,
    },
  );
}

/** `fetch` hides the cause of its failures one level down. */
function getFetchErrorReason(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "unknown cause";
  const { cause } = thrown;
  const code =
    cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
  return code ?? (cause instanceof Error && cause.message ? cause.message : thrown.message);
}
