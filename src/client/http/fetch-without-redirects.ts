import { A2AError } from "../../protocol/index.ts";
import { createStreamIdleError, MAX_TIMER_MS, untilAborted } from "./deadline.ts";

/**
 * Calls `fetch` without following redirects, because credentials belong to one origin. Rejects with
 * `UNAVAILABLE` if the host does not answer, and with `INVALID_AGENT_RESPONSE` if the host redirects the
 * request.
 *
 * The function observes the abort signal itself, because `fetch` loses the signal of a `Request` that is
 * garbage collected. Without its own check of the signal, an aborted call might never reject.
 */
export async function fetchWithoutRedirects(
  send: typeof fetch,
  url: string,
  init: RequestInit & { readonly signal?: AbortSignal },
): Promise<Response> {
  const pendingResponse = send(url, { ...init, redirect: "manual" });
  let response: Response;
  try {
    response = await untilAborted(pendingResponse, init.signal);
  } catch (cause) {
    void pendingResponse.then(({ body }) => body?.cancel()).catch(() => {});
    throw toNetworkError(cause, init.signal, `No answer from ${new URL(url).origin}`);
  }
  const { status, type } = response;
  if (type !== "opaqueredirect" && (status < 300 || status >= 400 || status === 304)) return response;
  await response.body?.cancel();
  const target = response.headers.get("location")?.slice(0, MAX_PRINTED_URL_LENGTH) ?? "elsewhere";
  const message = `${removeUrlQuery(url)} redirects to ${target}. Connect to that address if you trust it.`;
  throw new A2AError("INVALID_AGENT_RESPONSE", message);
}

const MAX_PRINTED_URL_LENGTH = 200;

/** Removes the query from a URL for an error message, because the query may contain an API key. */
export function removeUrlQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** The maximum size of a response body, and what the user can do about a larger body. */
interface BodyLimit {
  readonly maxResponseBytes: number;
  readonly advice?: string;
}

/** Reads a response body as text. Rejects with `INVALID_AGENT_RESPONSE` if the body exceeds the limit. */
export async function readBoundedText(
  { maxResponseBytes, advice = "Raise maxResponseBytes if this size is expected." }: BodyLimit,
  response: Response,
  signal?: AbortSignal,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const bytes of readChunks(response, signal)) {
    size += bytes.length;
    if (size > maxResponseBytes) {
      const message = `The agent's response is larger than ${maxResponseBytes} bytes. ${advice}`;
      throw new A2AError("INVALID_AGENT_RESPONSE", message);
    }
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

/** Reads the first `maxBytes` bytes of a response body as text, and closes the connection. */
export async function readTextPrefix(
  maxBytes: number,
  response: Response,
  signal?: AbortSignal,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let remaining = maxBytes;
  for await (const bytes of readChunks(response, signal)) {
    text += decoder.decode(bytes.subarray(0, remaining), { stream: true });
    remaining -= bytes.length;
    if (remaining <= 0) break;
  }
  return text + decoder.decode();
}

/**
 * Yields the chunks of a response body. Rejects with `UNAVAILABLE` if the connection breaks. The connection
 * closes when the consumer stops reading or the signal aborts.
 *
 * If no byte arrives for `idleTimeoutMs` milliseconds, the function rejects with `UNAVAILABLE`. The time in which the
 * consumer does not read does not count.
 *
 * The function observes the abort signal itself, because `fetch` loses the signal of a `Request` that is
 * garbage collected. Without its own check of the signal, an aborted stream might never end.
 */
export async function* readChunks(
  response: Response,
  signal?: AbortSignal,
  idleTimeoutMs: number = Infinity,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const close = (): void => void reader.cancel().catch(() => {});
  signal?.addEventListener("abort", close, { once: true });
  if (signal?.aborted) close();
  let isIdle = false;
  const onIdle = (): void => {
    isIdle = true;
    close();
  };
  const read = (): ReturnType<typeof reader.read> => readBeforeIdle(reader, idleTimeoutMs, onIdle);
  try {
    for (let result = await read(); !result.done; result = await read()) yield result.value;
  } catch (cause) {
    throw toNetworkError(cause, signal, `The connection to ${getResponseOrigin(response)} broke`);
  } finally {
    signal?.removeEventListener("abort", close);
    close();
  }
  if (signal?.aborted) throw signal.reason;
  if (isIdle) throw createStreamIdleError(getResponseOrigin(response), idleTimeoutMs);
}

/** Reads one chunk, and calls `onIdle` if no chunk arrives for `idleTimeoutMs` milliseconds. */
async function readBeforeIdle<T>(
  reader: { read(): Promise<T> },
  idleTimeoutMs: number,
  onIdle: () => void,
): Promise<T> {
  if (idleTimeoutMs === Infinity) return await reader.read();
  const timer = setTimeout(onIdle, Math.min(idleTimeoutMs, MAX_TIMER_MS));
  try {
    return await reader.read();
  } finally {
    clearTimeout(timer);
  }
}

function getResponseOrigin(response: Response): string {
  return URL.canParse(response.url) ? new URL(response.url).origin : "the agent";
}

/** Returns the abort reason if the signal was aborted, or an `UNAVAILABLE` error if the network failed. */
function toNetworkError(cause: unknown, signal: AbortSignal | undefined, description: string): unknown {
  if (signal?.aborted) return signal.reason;
  if (cause instanceof A2AError) return cause;
  const reason = getFetchErrorReason(cause);
  const advice = NETWORK_ERROR_ADVICE[reason] ?? "is the agent running and reachable?";
  return new A2AError("UNAVAILABLE", `${description} (${reason}); ${advice}`, { cause });
}

const PLAIN_HTTP_ADVICE = "the server does not use TLS; write http:// instead of https://.";
const UNTRUSTED_CERTIFICATE_ADVICE =
  "the certificate is not trusted; set NODE_EXTRA_CA_CERTS to the file of its certificate authority.";

/** Advice by the code of a network error. */
const NETWORK_ERROR_ADVICE: Readonly<Record<string, string>> = {
  EPROTO: PLAIN_HTTP_ADVICE,
  ERR_SSL_WRONG_VERSION_NUMBER: PLAIN_HTTP_ADVICE,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: PLAIN_HTTP_ADVICE,
  ENOTFOUND: "the host name is unknown; check the URL.",
  CERT_HAS_EXPIRED: "the certificate of the server has expired; renew it.",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED_CERTIFICATE_ADVICE,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED_CERTIFICATE_ADVICE,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED_CERTIFICATE_ADVICE,
};

/** Returns the reason why `fetch` failed, from the `cause` of the thrown error. */
function getFetchErrorReason(error: unknown): string {
  if (!(error instanceof Error)) return "unknown cause";
  const { cause } = error;
  const code =
    cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
  return code ?? (cause instanceof Error && cause.message ? cause.message : error.message);
}
