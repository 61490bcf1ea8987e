import { A2AError } from "../../protocol/index.ts";
import { isLoopback } from "../loopback.ts";
import { fetchWithoutRedirects, isObject, parseJson, readBoundedText } from "../transport/http.ts";
import type { OAuthClient } from "./client-auth.ts";
import { encodeBase64, type TokenEndpointSource } from "./auth-plan.ts";
import type { AccessToken } from "./token-source.ts";

/** What is needed to ask for a token. */
export interface TokenRequestOptions {
  readonly oauthClient: OAuthClient;
  readonly endpointSource: TokenEndpointSource;
  readonly scopes: readonly string[];
  /** Of the agent: the one that may see the client's secret without further words. */
  readonly agentOrigin: string;
  readonly fetch: typeof fetch;
  readonly now: () => number;
}

interface TokenEndpoint {
  readonly url: string;
  readonly secretLocation: "header" | "body";
}

const TOKEN_TIMEOUT_MS = 30_000;
const RESPONSE_LIMITS = { maxResponseBytes: 2 ** 20 };

/** Asks for tokens by client credentials (RFC 6749 §4.4), at an endpoint that is looked up once. */
export function createTokenFetcher(question: TokenRequestOptions): () => Promise<AccessToken> {
  let endpoint: Promise<TokenEndpoint> | undefined;
  return async () => {
    endpoint ??= resolveTokenEndpoint(question);
    try {
      return await requestToken(await endpoint, question);
    } catch (error) {
      endpoint = undefined;
      throw error;
    }
  };
}

async function resolveTokenEndpoint({
  oauthClient: client,
  endpointSource: from,
  agentOrigin: origin,
  fetch: send,
}: TokenRequestOptions): Promise<TokenEndpoint> {
  const { issuer, secretLocation: secretIn } = client;
  const given = "tokenUrl" in from ? from.tokenUrl : from.metadataUrl;
  assertTrustedOrigin(given, [origin, issuer]);
  if ("tokenUrl" in from) return { url: given, secretLocation: secretIn ?? "header" };
  const url = given.includes("/.well-known/") ? given : `${given.replace(/\/+$/, "")}${OIDC_METADATA_PATH}`;
  const { status, json } = await fetchJson(send, url, { headers: { accept: "application/json" } });
  const { token_endpoint: tokenUrl, token_endpoint_auth_methods_supported: methods } = json;
  if (status !== 200 || typeof tokenUrl !== "string") {
    throw createUnauthenticatedError(
      `${url} answered ${status} and no token endpoint; the card says that it does.`,
    );
  }
  // RFC 8414 §3.3: metadata that speaks for another issuer must not be used.
  if (stripTrailingSlashes(String(json["issuer"])) !== deriveIssuer(url)) {
    throw createUnauthenticatedError(
      `${url} has the metadata of ${JSON.stringify(json["issuer"])}, another issuer.`,
    );
  }
  assertSecureUrl(tokenUrl);
  const byHeader = !Array.isArray(methods) || methods.includes("client_secret_basic");
  return { url: tokenUrl, secretLocation: secretIn ?? (byHeader ? "header" : "body") };
}

const OIDC_METADATA_PATH = "/.well-known/openid-configuration";

/** The issuer whose metadata lie at a URL: OpenID Connect appends the well-known path, RFC 8414 puts it before the path. */
function deriveIssuer(metadataUrl: string): string {
  return stripTrailingSlashes(metadataUrl.replace(/\/\.well-known\/[^/?#]+/, ""));
}

function stripTrailingSlashes(url: string): string {
  return url.replace(/\/+$/, "");
}

async function requestToken(
  { url, secretLocation: secretIn }: TokenEndpoint,
  { oauthClient: client, scopes, fetch: send, now }: TokenRequestOptions,
): Promise<AccessToken> {
  const { id, secret } = client;
  const form = new URLSearchParams({ grant_type: "client_credentials", ...client.tokenParameters });
  if (scopes.length > 0) form.set("scope", scopes.join(" "));
  const headers = new Headers({ accept: "application/json", "content-type": FORM_MEDIA_TYPE });
  if (secretIn === "body") {
    form.set("client_id", id);
    form.set("client_secret", secret);
  } else headers.set("authorization", `Basic ${encodeBase64(`${formEncode(id)}:${formEncode(secret)}`)}`);
  const asked = now();
  const { status, json } = await fetchJson(send, url, { method: "POST", headers, body: form.toString() });
  const { access_token: value, token_type: type, expires_in: seconds } = json;
  if (status === 200 && typeof value === "string" && /^bearer$/i.test(String(type))) {
    const lifetime = Number(seconds);
    if (seconds === undefined || !Number.isFinite(lifetime)) return { value };
    // Not to the last moment: the clock of the agent and the way to it count, too.
    return { value, expiresAt: asked + lifetime * 1_000 - Math.min(30_000, lifetime * 100) };
  }
  const { error, error_description: description } = json;
  const why = [error, description].filter((text) => typeof text === "string").join(": ");
  const message = `${url} gave client ${JSON.stringify(id)} no token: ${why.slice(0, 300) || `HTTP ${status}`}; check { auth: { client } }.`;
  throw status >= 500 || status === 429
    ? new A2AError("UNAVAILABLE", message)
    : createUnauthenticatedError(message);
}

const FORM_MEDIA_TYPE = "application/x-www-form-urlencoded";

/** RFC 6749 §2.3.1 wants both halves of the header encoded as a form encodes them. */
function formEncode(text: string): string {
  return new URLSearchParams({ a: text }).toString().slice(2);
}

async function fetchJson(
  send: typeof fetch,
  url: string,
  init: RequestInit,
): Promise<{ status: number; json: Record<string, unknown> }> {
  const signal = AbortSignal.timeout(TOKEN_TIMEOUT_MS);
  const response = await fetchWithoutRedirects(send, url, { ...init, signal });
  const json = parseJson(await readBoundedText(RESPONSE_LIMITS, response, signal));
  return { status: response.status, json: isObject(json) ? json : {} };
}

function assertTrustedOrigin(url: string, known: readonly (string | undefined)[]): void {
  assertSecureUrl(url);
  const { origin } = new URL(url);
  const isKnown = known.some(
    (one) => one !== undefined && URL.canParse(one) && new URL(one).origin === origin,
  );
  if (isKnown) return;
  const message = `The card sends the client's secret to ${origin}, which is not the agent's host; if that is whom it is for, say so: { auth: { client: { issuer: ${JSON.stringify(origin)} } } }.`;
  throw createUnauthenticatedError(message);
}

/** Secrets travel encrypted, but within this machine. */
function assertSecureUrl(url: string): void {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: "", hostname: "" };
  if (protocol === "https:" || (protocol === "http:" && isLoopback(hostname))) return;
  throw createUnauthenticatedError(
    `The card gets tokens from ${JSON.stringify(url)}, which is no https URL; no secret goes there.`,
  );
}

function createUnauthenticatedError(message: string): A2AError {
  return new A2AError("UNAUTHENTICATED", message);
}
