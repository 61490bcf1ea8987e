import { isLoopbackHost } from "./loopback.ts";
import { KeysUnavailableError } from "./verification-error.ts";

/** Options for fetching public keys. */
export interface FetchKeysOptions {
  /** The `fetch` function for requests. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Returns the current time in milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
}

const MAX_RESPONSE_BYTES = 1024 * 1024;
const REQUEST_TIMEOUT_MS = 5000;

/**
 * Fetches a small JSON object from a trusted source of keys: over HTTPS (or HTTP on this machine), without
 * redirects, and with limits of time and size. Rejects with `KeysUnavailableError` for any failure.
 */
export async function fetchJson(
  url: URL,
  { fetch = globalThis.fetch }: FetchKeysOptions = {},
): Promise<Record<string, unknown>> {
  try {
    const headers = { accept: "application/json, application/jwk-set+json" };
    const response = await fetch(url, {
      headers,
      redirect: "error",
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`the server returned HTTP ${response.status}`);
    }
    const json: unknown = JSON.parse(await readBoundedText(response));
    if (typeof json === "object" && json !== null) return json as Record<string, unknown>;
    throw new Error("the response is not a JSON object");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new KeysUnavailableError(`${url.href} cannot be read: ${why}`, { cause });
  }
}

async function readBoundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_RESPONSE_BYTES) throw new Error(`the response exceeds ${MAX_RESPONSE_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * Returns a URL for keys. Throws for an insecure URL, because an attacker on the network could exchange the
 * keys.
 */
export function requireSecureUrl(label: string, value: string | URL): URL {
  const url = parseSecureUrl(value);
  if (url) return url;
  throw new Error(
    `${label} must be an https URL (http only on this machine), not ${JSON.stringify(String(value))}.`,
  );
}

/** Returns the URL if it is an HTTPS URL, or an HTTP URL of this machine. */
export function parseSecureUrl(value: unknown): URL | undefined {
  const url = URL.parse(String(value));
  if (url?.protocol === "https:") return url;
  return url?.protocol === "http:" && isLoopbackHost(url.hostname) ? url : undefined;
}
