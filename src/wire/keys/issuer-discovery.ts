import { MAX_URL_LENGTH, isLoopbackHost, stripTrailingCharacters } from "../../protocol/index.ts";
import { KeysUnavailableError } from "./verification-error.ts";

/** Options for the HTTP requests that fetch public keys. */
export interface FetchKeysOptions {
  /** The function that sends the requests for keys. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Returns the current time in milliseconds since 1970. The default is `Date.now`. */
  readonly now?: () => number;
}

const MAX_RESPONSE_BYTES = 1024 * 1024;
const REQUEST_TIMEOUT_MS = 5000;

/**
 * Fetches a JSON object, either a key set or provider metadata with the URL of a key set. The URL must use
 * HTTPS, unless the URL refers to this machine. Redirects, large responses, and slow responses fail with
 * `KeysUnavailableError`.
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
 * Parses a URL for fetching keys, and throws an error if the URL is insecure. Over an insecure connection, an
 * attacker could replace the keys.
 */
export function requireSecureUrl(label: string, value: string | URL): URL {
  const url = parseSecureUrl(value);
  if (url) return url;
  throw new Error(
    `${label} must be an https URL (http only on this machine), not ${JSON.stringify(String(value).slice(0, 200))}.`,
  );
}

/**
 * Returns the parsed URL, or `undefined` if the URL is insecure. HTTPS URLs and HTTP URLs of this machine are
 * secure. A URL has at most `MAX_URL_LENGTH` characters.
 */
function parseSecureUrl(value: unknown): URL | undefined {
  const text = String(value);
  const url = text.length > MAX_URL_LENGTH ? undefined : URL.parse(text);
  if (url?.protocol === "https:") return url;
  return url?.protocol === "http:" && isLoopbackHost(url.hostname) ? url : undefined;
}

/** Metadata of an OpenID provider, with the members that OpenID Connect Discovery 1.0 §3 defines. */
interface IssuerMetadata {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly [member: string]: unknown;
}

/**
 * Returns the metadata of an OpenID issuer. Rejects if the metadata belongs to a different issuer (OpenID
 * Connect Discovery §4.3).
 */
export async function discoverIssuer(
  issuer: string,
  options: FetchKeysOptions = {},
): Promise<IssuerMetadata> {
  const metadata = await fetchJson(buildDiscoveryUrl(issuer), options);
  const { issuer: actualIssuer, jwks_uri } = metadata;
  if (actualIssuer !== issuer)
    throw createIssuerMetadataError(issuer, `names the issuer ${JSON.stringify(actualIssuer)}`);
  const url = parseSecureUrl(jwks_uri);
  if (!url) throw createIssuerMetadataError(issuer, "has no jwks_uri with https");
  return { ...metadata, issuer, jwks_uri: url.href };
}

/** Returns the metadata URL of an OpenID issuer. */
export function buildDiscoveryUrl(issuer: string): URL {
  const { href } = requireSecureUrl("The issuer", issuer);
  return new URL(`${stripTrailingCharacters(href, "/")}/.well-known/openid-configuration`);
}

function createIssuerMetadataError(issuer: string, problem: string): KeysUnavailableError {
  return new KeysUnavailableError(`The metadata of ${issuer} ${problem}.`);
}
