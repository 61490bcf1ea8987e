import type { OAuthClient } from "./client-auth.ts";
import type { TokenEndpointSource } from "./auth-plan.ts";
import {
  assertTrustedOrigin,
  createRefusalError,
  fetchServerMetadata,
  findSecretLocation,
  isSameOrigin,
  type OAuthEndpoint,
  requestToken,
} from "./oauth-requests.ts";
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
