import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type { Caller } from "../../engine/index.ts";
import {
  createStaticKeyResolver,
  createIssuerKeyResolver,
  KeysUnavailableError,
  VerificationError,
  createJwksKeyResolver,
  verifyJwt,
  type FetchKeysOptions,
  type JSONWebKeySet,
  type JWK,
  type JwtClaims,
  type KeyResolver,
  type SignatureAlgorithm,
} from "../../wire/keys/index.ts";
import {
  A2AError,
  type OAuthFlows,
  type SecurityScheme,
  stripTrailingCharacters,
} from "../../protocol/index.ts";
import { parseBearerToken } from "./bearer.ts";
import { createBearerChallenge, assertValidScopes, authorizeScopes, type AuthScheme } from "./auth-scheme.ts";

/** Options for `jwt`. */
export interface JwtOptions extends FetchKeysOptions {
  /**
   * Issuer of the access tokens. If neither `jwksUrl` nor `keys` is set, OpenID discovery finds the issuer's
   * public keys.
   */
  readonly issuer?: string;
  /** URL of a JSON Web Key Set with the issuer's public keys. */
  readonly jwksUrl?: string | URL;
  /** Public keys of the issuer. */
  readonly keys?: JSONWebKeySet | readonly JWK[];
  /**
   * Identifier of this server in the claim `aud` of access tokens. The server rejects tokens with a different
   * audience, because these tokens are intended for other services.
   */
  readonly audience: string | readonly string[];
  /** Accepted signature algorithms. By default, the server accepts all ES, RS, PS, and EdDSA algorithms. */
  readonly algorithms?: readonly SignatureAlgorithm[];
  /** Allowed difference between the clocks of issuer and server, in seconds. Default: 5. */
  readonly clockTolerance?: number;
  /** Required value of `typ` in the JWT header, for example `at+jwt` (RFC 9068). Default: any. */
  readonly typ?: string;
  /** Scopes that every access token must contain in the claim `scope` or `scp`. Default: none. */
  readonly requiredScopes?: readonly string[];
  /**
   * Returns the principal of an access token. The default principal is `issuer|sub`, because two issuers can
   * use the same `sub`. If `issuer` is not set, the default principal is `sub`.
   */
  readonly mapPrincipal?: (claims: JwtClaims) => string | undefined;
  /**
   * Returns the tenant of an access token, or `undefined` to reject the token. The default tenant is `""`. A
   * caller with the empty tenant can select any tenant in a request.
   */
  readonly mapTenant?: (claims: JwtClaims) => string | undefined;
  /**
   * Name of the authentication scheme in the agent card's `securitySchemes`. The default scheme name is
   * `bearer` for `jwt`, `oauth2` for `oauth2`, and `openIdConnect` for `openIdConnect`.
   */
  readonly schemeName?: string;
}

/** Options for `oauth2`, in addition to the options of {@link JwtOptions}. */
export interface OAuth2Options extends JwtOptions {
  /**
   * OAuth flows that clients can use to obtain access tokens, for example `{ clientCredentials: { tokenUrl,
   * scopes } }`.
   */
  readonly flows: OAuthFlows;
  /** URL of the authorization server metadata (RFC 8414). Default: none. */
  readonly metadataUrl?: string;
}

const JWT_OPTION_NAMES = [
  "algorithms audience clockTolerance fetch issuer jwksUrl keys mapPrincipal mapTenant now",
  "requiredScopes schemeName typ",
] as const;

/** Options for `openIdConnect`, in addition to the options of {@link JwtOptions}. */
export interface OpenIdConnectOptions extends JwtOptions {
  /** Issuer of the access tokens. */
  readonly issuer: string;
}

const assertKnownJwtOptions = defineOptionNames<JwtOptions>()("jwt", ...JWT_OPTION_NAMES);
const assertKnownOAuth2Options = defineOptionNames<OAuth2Options>()(
  "oauth2",
  ...JWT_OPTION_NAMES,
  "flows metadataUrl",
);
const assertKnownOpenIdConnectOptions = defineOptionNames<OpenIdConnectOptions>()(
  "openIdConnect",
  ...JWT_OPTION_NAMES,
);

/**
 * Creates an authentication scheme for JWT access tokens, which the server verifies with the issuer's public
 * keys.
 */
export function jwt(options: JwtOptions): AuthScheme {
  assertKnownJwtOptions(options);
  const securityScheme = { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "JWT" } };
  return createJwtScheme(options, "bearer", securityScheme);
}

/**
 * Creates an authentication scheme for JWT access tokens. The agent card declares the scheme as OAuth 2.0,
 * with the OAuth flows that clients can use.
 */
export function oauth2(oauth2Options: OAuth2Options): AuthScheme {
  assertKnownOAuth2Options(oauth2Options);
  const { flows, metadataUrl, ...options } = oauth2Options;
  const metadata = metadataUrl === undefined ? {} : { oauth2MetadataUrl: metadataUrl };
  return createJwtScheme(options, "oauth2", { oauth2SecurityScheme: { flows, ...metadata } });
}

/**
 * Creates an authentication scheme for JWT access tokens. The agent card declares the scheme as OpenID
 * Connect, with the discovery URL of the issuer.
 */
export function openIdConnect(options: OpenIdConnectOptions): AuthScheme {
  assertKnownOpenIdConnectOptions(options);
  const url = `${stripTrailingCharacters(options.issuer, "/")}/.well-known/openid-configuration`;
  return createJwtScheme(options, "openIdConnect", {
    openIdConnectSecurityScheme: { openIdConnectUrl: url },
  });
}

function createJwtScheme(
  options: JwtOptions,
  defaultName: string,
  securityScheme: SecurityScheme,
): AuthScheme {
  const keys = createKeyResolver(options);
  const scopes = assertValidScopes(options.requiredScopes);
  if (options.audience === undefined || options.audience.length === 0) {
    throw new Error(`The "audience" is missing; set the identifier of this server in the tokens.`);
  }
  return {
    name: options.schemeName ?? defaultName,
    securityScheme,
    requiredScopes: scopes,
    buildChallenge: createBearerChallenge(scopes),
    authenticate: async (request) => {
      const token = parseBearerToken(request);
      if (token === undefined || token === "invalid") return token;
      const claims = await verifyJwtAndGetClaims(token.value, keys, options);
      if (claims instanceof VerificationError) return { invalidReason: claims.message };
      const caller = createCallerFromClaims(claims, options);
      if (caller) return authorizeScopes(caller, scopes);
      return { invalidReason: "the token identifies no principal, or no tenant" };
    },
  };
}

function createKeyResolver({ keys, jwksUrl, issuer, ...options }: JwtOptions): KeyResolver {
  if (keys !== undefined) return createStaticKeyResolver(keys, options);
  if (jwksUrl !== undefined) return createJwksKeyResolver(jwksUrl, options);
  if (issuer !== undefined) return createIssuerKeyResolver(issuer, options);
  throw new Error(`The source of the public keys is missing; set "issuer", "jwksUrl", or "keys".`);
}

/**
 * Returns the claims of an access token, or the error of an invalid token. Rejects with UNAVAILABLE if
 * the public keys cannot be fetched.
 */
async function verifyJwtAndGetClaims(
  token: string,
  keys: KeyResolver,
  options: JwtOptions,
): Promise<JwtClaims | VerificationError> {
  try {
    return await verifyJwt(token, keys, options);
  } catch (error) {
    if (error instanceof VerificationError) return error;
    if (!(error instanceof KeysUnavailableError)) throw error;
    const text = "The server cannot verify tokens at the moment; try again soon.";
    throw new A2AError("UNAVAILABLE", text, { cause: error, retryAfter: 5 });
  }
}

function createCallerFromClaims(
  claims: JwtClaims,
  { issuer, mapPrincipal, mapTenant }: JwtOptions,
): Caller | undefined {
  const { sub } = claims;
  const principal = mapPrincipal
    ? mapPrincipal(claims)
    : sub && issuer !== undefined
      ? `${issuer}|${sub}`
      : sub;
  // The token has no principal. For example, some issuers identify a client in another claim.
  if (typeof principal !== "string" || principal === "") return undefined;
  const tenant = mapTenant ? mapTenant(claims) : "";
  // With `mapTenant`, a token without a tenant must not give access to every tenant.
  if (typeof tenant !== "string") return undefined;
  return { tenant, principal, scopes: parseScopes(claims), claims };
}

/**
 * Returns the scopes of an access token. The claim `scope` is space-separated text (RFC 8693 §4.2). Some
 * issuers send the claim `scp` instead of `scope`, or a list instead of text.
 */
function parseScopes({ scope, scp }: JwtClaims): string[] {
  const value: unknown = scope ?? scp;
  if (typeof value === "string") return value.split(" ").filter((name) => name !== "");
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}
