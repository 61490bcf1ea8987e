import { A2AError } from "../protocol/index.ts";
import { fromRestError } from "../wire/index.ts";

/** How requests are made: the same for all of a remote agent. */
export interface Http {
  readonly fetch: typeof fetch;
  readonly headers: Readonly<Record<string, string>>;
  /** The largest body of an answer that is not a stream. */
  readonly maxResponseBytes: number;
  /** The largest single event of a stream. */
  readonly maxEventBytes: number;
}

export interface Call {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface Outgoing extends Call {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly accept: string;
  readonly contentType?: string;
  readonly body?: string;
}

export const JSON_TYPES = "application/a2a+json, application/json";
const VERSION = "1.0";

/**
 * Sends one request. Rejects with UNAVAILABLE when nobody answers, and refuses redirects: credentials are for the
 * agent that they were given for, and not for whomever it points to.
 */
export async function request(http: Http, outgoing: Outgoing): Promise<Response> {
  const { method, url, accept, contentType, body, signal } = outgoing;
  const headers = new Headers({ ...http.headers, ...outgoing.headers });
  headers.set("a2a-version", VERSION);
  headers.set("accept", accept);
  if (contentType !== undefined) headers.set("content-type", contentType);
  let response: Response;
  try {
    response = await http.fetch(url, {
      method,
      headers,
      redirect: "manual",
      ...(body === undefined ? {} : { body }),
      ...(signal ? { signal } : {}),
    });
  } catch (cause) {
    throw unavailable(cause, signal, `No answer from ${new URL(url).origin}`);
  }
  if (response.type !== "opaqueredirect" && (response.status < 300 || response.status >= 400))
    return response;
  await response.body?.cancel();
  const target = response.headers.get("location") ?? "elsewhere";
  const message = `${url} redirects to ${target}; connect to that address if you trust it.`;
  throw new A2AError("INVALID_AGENT_RESPONSE", message);
}

/** The whole body; rejects with INVALID_AGENT_RESPONSE past the bound. */
export async function readText(http: Http, response: Response, signal?: AbortSignal): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const bytes of chunks(response, signal)) {
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
export async function* chunks(
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
    throw unavailable(cause, signal, `The connection to ${origin(response)} broke`);
  } finally {
    signal?.removeEventListener("abort", close);
    close();
  }
  if (signal?.aborted) throw signal.reason;
}

function origin(response: Response): string {
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
export function failureOf(response: Response, body: unknown): A2AError {
  if (!response.ok) return fromRestError(response.status, body);
  const type = response.headers.get("content-type") ?? "no content type";
  const message = `${response.url} answered ${response.status} with ${type} that is not an A2A answer; is this the agent's URL?`;
  return new A2AError("INVALID_AGENT_RESPONSE", message);
}

/** The error with the `Retry-After` of its response, unless it says itself when to retry. */
export function withRetryAfter(error: A2AError, response: Response): A2AError {
  const seconds = Number.parseInt(response.headers.get("retry-after") ?? "", 10);
  if (error.retryAfter !== undefined || Number.isNaN(seconds)) return error;
  const { violations, metadata, details, cause } = error;
  return new A2AError(error.reason, error.message, {
    violations,
    metadata,
    details,
    cause,
    retryAfter: seconds,
  });
}

/** What the caller aborted is thrown as the caller said; everything else is the network's fault. */
function unavailable(cause: unknown, signal: AbortSignal | undefined, what: string): unknown {
  if (signal?.aborted) return signal.reason;
  if (cause instanceof A2AError) return cause;
  return new A2AError("UNAVAILABLE", `${what} (${nameOf(cause)}); is the agent running and reachable?`, {
    cause,
  });
}

/** `fetch` hides the cause of its failures one level down. */
function nameOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "unknown cause";
  const { cause } = thrown;
  const code =
    cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
  return code ?? (cause instanceof Error && cause.message ? cause.message : thrown.message);
}
