import {
  isObject,
  A2AError,
  MAX_URL_LENGTH,
  stripTrailingCharacters,
  parseJsonOrUndefined,
  toBase64,
} from "../../protocol/index.ts";
import { isLoopback } from "../http/loopback.ts";
import { fetchWithoutRedirects, readBoundedText } from "../http/fetch-without-redirects.ts";
import type { TokenEndpointSource } from "./auth-plan.ts";
import type { OAuthClient } from "./client-auth.ts";

/** The identification of an OAuth 2.0 client in a token request. A public client has no secret. */
export interface OAuthClientIdentity {
  readonly id: string;
  readonly secret?: string;
}

/** A URL for requests with the identification of an OAuth client, and the location of the secret in these requests. */
export interface OAuthEndpoint {
  readonly url: string;
  readonly secretLocation: "header" | "body";
}

/** A token that an authorization server has issued (RFC 6749 §5.1). */
export interface IssuedToken {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Time until the token expires, in milliseconds. The time is shortened, so that clients renew the token early. */
  readonly lifetimeMs?: number;
}

/** An unsuccessful response of an authorization server (RFC 6749 §5.2). */
export interface OAuthRefusal {
  readonly status: number;
  /** The `error` code, such as `invalid_grant`. */
  readonly code: string;
  /**
   * The error code and the description of the server, or else the HTTP status. The text is long if the server wishes, and
   * can repeat the secrets of the request.
   */
  readonly text: string;
}

const REQUEST_TIMEOUT_MS = 30_000;
const RESPONSE_LIMITS = { maxResponseBytes: 2 ** 20 };
const FORM_MEDIA_TYPE = "application/x-www-form-urlencoded";
const OIDC_METADATA_PATH = "/.well-known/openid-configuration";

/**
 * Reads the metadata of an authorization server (RFC 8414, OpenID Connect Discovery). `source` is the URL of the
 * metadata, or of the OpenID issuer. Rejects with `UNAUTHENTICATED` if the metadata belongs to a different issuer.
 */
export async function fetchServerMetadata(
  fetchFunction: typeof fetch,
  source: string,
): Promise<Record<string, unknown> & { readonly issuer: string }> {
  const url = source.includes("/.well-known/")
    ? source
    : `${stripTrailingCharacters(source, "/")}${OIDC_METADATA_PATH}`;
  const { status, json } = await fetchJson(fetchFunction, url, { headers: { accept: "application/json" } });
  const { issuer, token_endpoint } = json;
  if (status !== 200 || typeof token_endpoint !== "string") {
    throw createUnauthenticatedError(
      `${url} answered ${status} without a token endpoint. Check the metadata URL in the card.`,
    );
  }
  // RFC 8414 §3.3: metadata of a different issuer must not be used.
  if (typeof issuer !== "string" || stripTrailingCharacters(issuer, "/") !== deriveIssuer(url))
    throw createUnauthenticatedError(
      `${url} contains the metadata of a different issuer, ${JSON.stringify(issuer)}.`,
    );
  assertSecureUrl(token_endpoint);
  return { ...json, issuer };
}

/**
 * Returns the authorization server whose metadata is published at a URL. OpenID Connect appends the
 * well-known path to the issuer's path, but RFC 8414 inserts it before the issuer's path.
 */
function deriveIssuer(metadataUrl: string): string {
  return stripTrailingCharacters(metadataUrl.replace(/\/\.well-known\/[^/?#]+/, ""), "/");
}

/** Returns where a server with this metadata expects client secrets, which is the header unless it accepts only bodies. */
export function findSecretLocation({
  token_endpoint_auth_methods_supported: methods,
}: Record<string, unknown>): OAuthEndpoint["secretLocation"] {
  return !Array.isArray(methods) || methods.includes("client_secret_basic") ? "header" : "body";
}

/** Requests a token (RFC 6749 §5). Resolves with the token, or with the refusal of the server. */
export async function requestToken(
  fetchFunction: typeof fetch,
  endpoint: OAuthEndpoint,
  client: OAuthClientIdentity,
  parameters: Readonly<Record<string, string>>,
): Promise<IssuedToken | OAuthRefusal> {
  const { status, json } = await postOAuthForm(fetchFunction, endpoint, client, parameters);
  const { access_token, token_type, expires_in, refresh_token } = json;
  if (status === 200 && isHeaderToken(access_token) && /^bearer$/i.test(String(token_type))) {
    const seconds = Number(expires_in);
    const expires = expires_in !== undefined && Number.isFinite(seconds);
    return {
      accessToken: access_token,
      ...(typeof refresh_token === "string" ? { refreshToken: refresh_token } : {}),
      // The token is renewed early, to allow for clock differences and network latency.
      ...(expires ? { lifetimeMs: seconds * 1_000 - Math.min(30_000, seconds * 100) } : {}),
    };
  }
  return toRefusal(status, json);
}

/** Sends a form with the identification of the client. The caller has checked the URL with `assertSecureUrl`. */
export async function postOAuthForm(
  fetchFunction: typeof fetch,
  { url, secretLocation }: OAuthEndpoint,
  { id, secret }: OAuthClientIdentity,
  parameters: Readonly<Record<string, string>>,
): Promise<JsonResponse> {
  const form = new URLSearchParams(parameters);
  const headers = new Headers({ accept: "application/json", "content-type": FORM_MEDIA_TYPE });
  if (secret !== undefined && secretLocation === "header") {
    const credentials = new TextEncoder().encode(`${formEncode(id)}:${formEncode(secret)}`);
    headers.set("authorization", `Basic ${toBase64(credentials)}`);
  } else {
    form.set("client_id", id);
    if (secret !== undefined) form.set("client_secret", secret);
  }
  return await fetchJson(fetchFunction, url, { method: "POST", headers, body: form.toString() });
}

export function toRefusal(
  status: number,
  { error, error_description }: Record<string, unknown>,
): OAuthRefusal {
  const text = [error, error_description].filter((part) => typeof part === "string").join(": ");
  return { status, code: String(error), text: text || `HTTP ${status}` };
}

/** Creates an error for a refusal. A busy server is unavailable, and another attempt may succeed. */
export function createRefusalError({ status }: OAuthRefusal, message: string): A2AError {
  return status >= 500 || status === 429
    ? new A2AError("UNAVAILABLE", message)
    : createUnauthenticatedError(message);
}

/** Returns whether a value is a token that an `Authorization` header can contain (RFC 6749 appendix A.12). */
function isHeaderToken(value: unknown): value is string {
  return typeof value === "string" && /^[\u0021-\u007e]+$/.test(value);
}

/**
 * Encodes text as a form value, as RFC 6749 §2.3.1 requires for the client id and secret in the
 * `Authorization` header.
 */
function formEncode(text: string): string {
  return new URLSearchParams({ a: text }).toString().slice(2);
}

interface JsonResponse {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

async function fetchJson(fetchFunction: typeof fetch, url: string, init: RequestInit): Promise<JsonResponse> {
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  const response = await fetchWithoutRedirects(fetchFunction, url, { ...init, signal });
  const json = parseJsonOrUndefined(await readBoundedText(RESPONSE_LIMITS, response, signal));
  return { status: response.status, json: isObject(json) ? json : {} };
}

export function isSameOrigin(url: string, other: string | undefined): boolean {
  return other !== undefined && URL.canParse(other) && new URL(other).origin === new URL(url).origin;
}

/** Throws if credentials would be sent unencrypted to another machine. */
export function assertSecureUrl(url: string): void {
  const isParsable = url.length <= MAX_URL_LENGTH && URL.canParse(url);
  const { protocol, hostname } = isParsable ? new URL(url) : { protocol: "", hostname: "" };
  if (protocol === "https:" || (protocol === "http:" && isLoopback(hostname))) return;
  throw createUnauthenticatedError(
    `The authorization URL ${JSON.stringify(url.slice(0, 200))} does not use HTTPS or has more than ${MAX_URL_LENGTH} characters.`,
  );
}

/** Throws if an URL that may receive a client secret is on no trusted origin. */
export function assertTrustedOrigin(url: string, trustedUrls: readonly (string | undefined)[]): void {
  assertSecureUrl(url);
  if (trustedUrls.some((trustedUrl) => isSameOrigin(url, trustedUrl))) return;
  const { origin } = new URL(url);
  const message = `The card requests the client secret at ${origin}, which is not the agent's host. If that server issued the secret, set { auth: { oauthClient: { issuer: ${JSON.stringify(origin)} } } }.`;
  throw createUnauthenticatedError(message);
}

export function createUnauthenticatedError(message: string): A2AError {
  return new A2AError("UNAUTHENTICATED", message);
}

/**
 * An access token with its expiry time in milliseconds of the monotonic clock. The client uses a token without an expiry
 * time until the agent rejects the token.
 */
export interface AccessToken {
  readonly value: string;
  readonly expiresAt?: number;
}

/** Values that are needed to request an OAuth token. */
interface TokenRequestOptions {
  readonly oauthClient: OAuthClient;
  readonly endpointSource: TokenEndpointSource;
  readonly scopes: readonly string[];
  /** The origins that may receive the secret of the client without a configured issuer. */
  readonly secretOrigins: readonly string[];
  readonly fetch: typeof fetch;
  readonly monotonicNow: () => number;
}

/**
 * Creates a function that requests tokens with client credentials (RFC 6749 §4.4). The function resolves the
 * token endpoint on its first call, and again after a failure.
 */
export function createTokenFetcher(options: TokenRequestOptions): () => Promise<AccessToken> {
  let endpoint: Promise<OAuthEndpoint> | undefined;
  return async () => {
    endpoint ??= resolveTokenEndpoint(options);
    try {
      return await requestAccessToken(await endpoint, options);
    } catch (error) {
      endpoint = undefined;
      throw error;
    }
  };
}

async function resolveTokenEndpoint({
  oauthClient: { issuer, secretLocation },
  endpointSource,
  secretOrigins,
  fetch,
}: TokenRequestOptions): Promise<OAuthEndpoint> {
  const trustedUrls = [...secretOrigins, issuer];
  const sourceUrl = "tokenUrl" in endpointSource ? endpointSource.tokenUrl : endpointSource.metadataUrl;
  assertTrustedOrigin(sourceUrl, trustedUrls);
  if ("tokenUrl" in endpointSource) return { url: sourceUrl, secretLocation: secretLocation ?? "header" };
  const metadata = await fetchServerMetadata(fetch, sourceUrl);
  const url = String(metadata["token_endpoint"]);
  // Only the issuer of the secret may name a token endpoint at another origin.
  if (!isSameOrigin(sourceUrl, issuer)) assertTrustedOrigin(url, trustedUrls);
  return { url, secretLocation: secretLocation ?? findSecretLocation(metadata) };
}

async function requestAccessToken(
  endpoint: OAuthEndpoint,
  { oauthClient, scopes, fetch, monotonicNow }: TokenRequestOptions,
): Promise<AccessToken> {
  const requestedAt = monotonicNow();
  const issued = await requestToken(fetch, endpoint, oauthClient, {
    grant_type: "client_credentials",
    ...oauthClient.tokenParameters,
    ...(scopes.length > 0 ? { scope: scopes.join(" ") } : {}),
  });
  if ("accessToken" in issued) {
    const { accessToken: value, lifetimeMs } = issued;
    return lifetimeMs === undefined ? { value } : { value, expiresAt: requestedAt + lifetimeMs };
  }
  const message = `${endpoint.url} issued no token to client ${JSON.stringify(oauthClient.id)}: ${issued.text.slice(0, 300)}. Check { auth: { oauthClient } }.`;
  throw createRefusalError(issued, message);
}
