import { KeysUnavailableError } from "./verification-error.ts";

export interface FetchKeysOptions {
  /** What requests go out through. Default: the runtime's `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
}

const MAX_RESPONSE_BYTES = 1024 * 1024;
const REQUEST_TIMEOUT_MS = 5000;

/**
 * A small JSON object from a place that one trusts with keys: over HTTPS (or from this machine), no redirects, bounded
 * in time and size. Any failure is `KeysUnavailableError`.
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
      throw new Error(`it answered HTTP ${response.status}`);
    }
    const json: unknown = JSON.parse(await readBoundedText(response));
    if (typeof json === "object" && json !== null) return json as Record<string, unknown>;
    throw new Error("it is not a JSON object");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new KeysUnavailableError(`${url.href} can not be read: ${why}`, { cause });
  }
}

async function readBoundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_RESPONSE_BYTES) throw new Error(`it is larger than ${MAX_RESPONSE_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** A URL that keys may come from: a key that can be exchanged on the way is worth nothing. */
export function requireSecureUrl(what: string, given: string | URL): URL {
  const url = parseSecureUrl(given);
  if (url) return url;
  throw new Error(
    `${what} must be an https URL (http only on this machine), not ${JSON.stringify(String(given))}.`,
  );
}

export function parseSecureUrl(given: unknown): URL | undefined {
  if (!URL.canParse(String(given))) return undefined;
  const url = new URL(String(given));
  const isSafe = url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname));
  return isSafe ? url : undefined;
}

function isLoopbackHost(name: string): boolean {
  return name === "localhost" || name === "[::1]" || /^127(\.\d{1,3}){3}$/.test(name);
}
