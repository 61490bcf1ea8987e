import {
  isObject,
  A2AError,
  MAX_URL_LENGTH,
  stripTrailingCharacters,
  parseJsonOrUndefined,
} from "../../protocol/index.ts";
import { isLoopback } from "../http/loopback.ts";
import { fetchWithoutRedirects, readBoundedText } from "../http/fetch-without-redirects.ts";
import type { OAuthClient } from "./client-auth.ts";
import { encodeBase64, type TokenEndpointSource } from "./auth-plan.ts";
import type { AccessToken } from "./token-source.ts";

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

interface TokenEndpoint {
  readonly url: string;
  readonly secretLocation: "header" | "body";
}

const TOKEN_TIMEOUT_MS = 30_000;
const RESPONSE_LIMITS = { maxResponseBytes: 2 ** 20 };

/**
 * Creates a function that requests tokens with client credentials (RFC 6749 §4.4). The function resolves the
 * token endpoint on its first call, and again after a failure.
 */
export function createTokenFetcher(options: TokenRequestOptions): () => Promise<AccessToken> {
  let endpoint: Promise<TokenEndpoint> | undefined;
  return async () => {
    endpoint ??= resolveTokenEndpoint(options);
    try {
      return await requestToken(await endpoint, options);
    } catch (error) {
      endpoint = undefined;
      throw error;
    }
  };
}

async function resolveTokenEndpoint({
  oauthClient,
  endpointSource,
  secretOrigins,
  fetch,
}: TokenRequestOptions): Promise<TokenEndpoint> {
  const { issuer, secretLocation } = oauthClient;
  const sourceUrl = "tokenUrl" in endpointSource ? endpointSource.tokenUrl : endpointSource.metadataUrl;
  assertTrustedOrigin(sourceUrl, [...secretOrigins, issuer]);
  if ("tokenUrl" in endpointSource) return { url: sourceUrl, secretLocation: secretLocation ?? "header" };
  const url = sourceUrl.includes("/.well-known/")
    ? sourceUrl
    : `${stripTrailingCharacters(sourceUrl, "/")}${OIDC_METADATA_PATH}`;
  const { status, json } = await fetchJson(fetch, url, { headers: { accept: "application/json" } });
  const { token_endpoint, token_endpoint_auth_methods_supported } = json;
  if (status !== 200 || typeof token_endpoint !== "string") {
    throw createUnauthenticatedError(
      `${url} answered ${status} without a token endpoint. Check the metadata URL in the card.`,
    );
  }
  // RFC 8414 §3.3: metadata of a different issuer must not be used.
  if (stripTrailingCharacters(String(json["issuer"]), "/") !== deriveIssuer(url)) {
    throw createUnauthenticatedError(
      `${url} contains the metadata of a different issuer, ${JSON.stringify(json["issuer"])}.`,
    );
  }
  assertSecureUrl(token_endpoint);
  // Only the issuer of the secret may name a token endpoint at another origin.
  if (!isSameOrigin(url, issuer)) assertTrustedOrigin(token_endpoint, [...secretOrigins, issuer]);
  const supportsBasicAuth =
    !Array.isArray(token_endpoint_auth_methods_supported) ||
    token_endpoint_auth_methods_supported.includes("client_secret_basic");
  return { url: token_endpoint, secretLocation: secretLocation ?? (supportsBasicAuth ? "header" : "body") };
}

const OIDC_METADATA_PATH = "/.well-known/openid-configuration";

/**
 * Returns the authorization server whose metadata is published at a URL. OpenID Connect appends the
 * well-known path to the issuer's path, but RFC 8414 inserts it before the issuer's path.
 */
function deriveIssuer(metadataUrl: string): string {
  return stripTrailingCharacters(metadataUrl.replace(/\/\.well-known\/[^/?#]+/, ""), "/");
}

async function requestToken(
  { url, secretLocation }: TokenEndpoint,
  { oauthClient, scopes, fetch, monotonicNow }: TokenRequestOptions,
): Promise<AccessToken> {
  const { id, secret } = oauthClient;
  const form = new URLSearchParams({ grant_type: "client_credentials", ...oauthClient.tokenParameters });
  if (scopes.length > 0) form.set("scope", scopes.join(" "));
  const headers = new Headers({ accept: "application/json", "content-type": FORM_MEDIA_TYPE });
  if (secretLocation === "body") {
    form.set("client_id", id);
    form.set("client_secret", secret);
  } else headers.set("authorization", `Basic ${encodeBase64(`${formEncode(id)}:${formEncode(secret)}`)}`);
  const requestedAt = monotonicNow();
  const { status, json } = await fetchJson(fetch, url, { method: "POST", headers, body: form.toString() });
  const { access_token, token_type, expires_in } = json;
  if (status === 200 && isHeaderToken(access_token) && /^bearer$/i.test(String(token_type))) {
    const lifetime = Number(expires_in);
    if (expires_in === undefined || !Number.isFinite(lifetime)) return { value: access_token };
    // The token is renewed early, to allow for clock differences and network latency.
    return {
      value: access_token,
      expiresAt: requestedAt + lifetime * 1_000 - Math.min(30_000, lifetime * 100),
    };
  }
  const { error, error_description } = json;
  const errorText = [error, error_description].filter((text) => typeof text === "string").join(": ");
  const message = `${url} issued no token to client ${JSON.stringify(id)}: ${errorText.slice(0, 300) || `HTTP ${status}`}. Check { auth: { oauthClient } }.`;
  throw status >= 500 || status === 429
    ? new A2AError("UNAVAILABLE", message)
    : createUnauthenticatedError(message);
}

/** Returns whether a value is a token that an `Authorization` header can contain (RFC 6749 appendix A.12). */
function isHeaderToken(value: unknown): value is string {
  return typeof value === "string" && /^[\u0021-\u007e]+$/.test(value);
}

const FORM_MEDIA_TYPE = "application/x-www-form-urlencoded";

/**
 * Encodes text as a form value, as RFC 6749 §2.3.1 requires for the client id and secret in the
 * `Authorization` header.
 */
function formEncode(text: string): string {
  return new URLSearchParams({ a: text }).toString().slice(2);
}

async function fetchJson(
  fetchFunction: typeof fetch,
  url: string,
  init: RequestInit,
): Promise<{ status: number; json: Record<string, unknown> }> {
  const signal = AbortSignal.timeout(TOKEN_TIMEOUT_MS);
  const response = await fetchWithoutRedirects(fetchFunction, url, { ...init, signal });
  const json = parseJsonOrUndefined(await readBoundedText(RESPONSE_LIMITS, response, signal));
  return { status: response.status, json: isObject(json) ? json : {} };
}

function assertTrustedOrigin(url: string, trustedUrls: readonly (string | undefined)[]): void {
  assertSecureUrl(url);
  if (trustedUrls.some((trustedUrl) => isSameOrigin(url, trustedUrl))) return;
  const { origin } = new URL(url);
  const message = `The card requests the client secret at ${origin}, which is not the agent's host. If that server issued the secret, set { auth: { oauthClient: { issuer: ${JSON.stringify(origin)} } } }.`;
  throw createUnauthenticatedError(message);
}

function isSameOrigin(url: string, other: string | undefined): boolean {
  return other !== undefined && URL.canParse(other) && new URL(other).origin === new URL(url).origin;
}

/** Throws if a client secret would be sent unencrypted to another machine. */
function assertSecureUrl(url: string): void {
  const isParsable = url.length <= MAX_URL_LENGTH && URL.canParse(url);
  const { protocol, hostname } = isParsable ? new URL(url) : { protocol: "", hostname: "" };
  if (protocol === "https:" || (protocol === "http:" && isLoopback(hostname))) return;
  throw createUnauthenticatedError(
    `The card's token URL ${JSON.stringify(url.slice(0, 200))} does not use HTTPS or has more than ${MAX_URL_LENGTH} characters, so the client secret is not sent.`,
  );
}

function createUnauthenticatedError(message: string): A2AError {
  return new A2AError("UNAUTHENTICATED", message);
}
