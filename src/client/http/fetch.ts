import { A2AError } from "../../protocol/index.ts";
import { untilAborted } from "./abort.ts";

/**
 * `fetch`, but it rejects with UNAVAILABLE when nobody answers, and refuses redirects: credentials are for whom they
 * were given for, and not for whomever that one points to.
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
  const target = response.headers.get("location") ?? "elsewhere";
  const message = `${withoutQuery(url)} redirects to ${target}; connect to that address if you trust it.`;
  throw new A2AError("INVALID_AGENT_RESPONSE", message);
}

/** A URL for people: an API key may be in its query. */
export function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** The whole body; rejects with INVALID_AGENT_RESPONSE past the bound. */
export async function readBoundedText(
  { maxResponseBytes }: { readonly maxResponseBytes: number },
  response: Response,
  signal?: AbortSignal,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const bytes of readChunks(response, signal)) {
    size += bytes.length;
    if (size > maxResponseBytes) {
      const message = `The agent's answer is larger than ${maxResponseBytes} bytes; raise maxResponseBytes if that is right.`;
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
    for (let result = await reader.read(); !result.done; result = await reader.read()) yield result.value;
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

/** What the caller aborted is thrown as the caller said; everything else is the network's fault. */
function toNetworkError(cause: unknown, signal: AbortSignal | undefined, description: string): unknown {
  if (signal?.aborted) return signal.reason;
  if (cause instanceof A2AError) return cause;
  return new A2AError(
    "UNAVAILABLE",
    `${description} (${getFetchErrorReason(cause)}); is the agent running and reachable?`,
    {
      cause,
    },
  );
}

/** `fetch` hides the cause of its failures one level down. */
function getFetchErrorReason(error: unknown): string {
  if (!(error instanceof Error)) return "unknown cause";
  const { cause } = error;
  const code =
    cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
  return code ?? (cause instanceof Error && cause.message ? cause.message : error.message);
}
