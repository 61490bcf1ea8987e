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
} from "../../keys/index.ts";
import { A2AError, type OAuthFlows, type SecurityScheme } from "../../protocol/index.ts";
import { parseBearerToken } from "./bearer.ts";
import {
  createBearerChallenge,
  assertValidScopes,
  authorizeScopes,
  type AuthScheme,
  type AuthResult,
} from "./auth-scheme.ts";

export interface JwtOptions extends FetchKeysOptions {
  /** Who makes the tokens. Without `jwksUrl` and `keys`, its keys are found by OpenID discovery. */
  readonly issuer?: string;
  /** Where the public keys stand. */
  readonly jwksUrl?: string | URL;
  /** The public keys themselves. */
  readonly keys?: JSONWebKeySet | readonly JWK[];
  /** For whom the tokens are made: this server. Required, else a token for any other service would open this one. */
  readonly audience: string | readonly string[];
  /** Default: ES, RS, PS and EdDSA. */
  readonly algorithms?: readonly SignatureAlgorithm[];
  /** By how much clocks may differ, in seconds. Default 5. */
  readonly clockTolerance?: number;
  /** What the header's `typ` must be, for example `at+jwt` (RFC 9068). Default: anything. */
  readonly typ?: string;
  /** Scopes that every request needs, in the claim `scope` or `scp`. */
  readonly requiredScopes?: readonly string[];
  /**
   * The caller's name. Default: `issuer|sub`, because two issuers may call different people the same; `sub` alone where
   * no issuer is given.
   */
  readonly mapPrincipal?: (claims: JwtClaims) => string | undefined;
  /** The caller's tenant; a token of none (undefined) is refused. Default: "", which leaves it to the request. */
  readonly mapTenant?: (claims: JwtClaims) => string | undefined;
  /** In the card's `securitySchemes`. Default `bearer`, `oauth2` or `openIdConnect`. */
  readonly schemeName?: string;
}

export interface OAuth2Options extends JwtOptions {
  /** How clients get a token, for example `{ clientCredentials: { tokenUrl, scopes } }`. */
  readonly flows: OAuthFlows;
  /** Where the authorization server's metadata stands (RFC 8414). */
  readonly metadataUrl?: string;
}

export interface OpenIdConnectOptions extends JwtOptions {
  readonly issuer: string;
}

/** Access tokens that are JWTs, checked by the public keys of whoever made them. */
export function jwt(options: JwtOptions): AuthScheme {
  const declared = { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "JWT" } };
  return createTokenScheme(options, "bearer", declared);
}

/** The same, declared as OAuth 2.0: the card says how a client gets a token. */
export function oauth2({ flows, metadataUrl, ...options }: OAuth2Options): AuthScheme {
  const more = metadataUrl === undefined ? {} : { oauth2MetadataUrl: metadataUrl };
  return createTokenScheme(options, "oauth2", { oauth2SecurityScheme: { flows, ...more } });
}

/** The same, declared as OpenID Connect: the card says where the issuer's metadata stands. */
export function openIdConnect(options: OpenIdConnectOptions): AuthScheme {
  const url = `${options.issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`;
  return createTokenScheme(options, "openIdConnect", {
    openIdConnectSecurityScheme: { openIdConnectUrl: url },
  });
}

function createTokenScheme(options: JwtOptions, kind: string, declared: SecurityScheme): AuthScheme {
  const keys = createKeyResolver(options);
  const scopes = assertValidScopes(options.requiredScopes);
  if (options.audience === undefined || options.audience.length === 0) {
    throw new Error(`Tokens need an "audience": what their issuer calls this server.`);
  }
  return {
    name: options.schemeName ?? kind,
    securityScheme: declared,
    requiredScopes: scopes,
    buildChallenge: createBearerChallenge(scopes),
    authenticate: async (credentials) => {
      const token = parseBearerToken(credentials);
      if (token === undefined || token === "invalid") return token;
      const claims = await verifyClaims(token.value, keys, options);
      const caller = claims && createCallerFromClaims(claims, options);
      return caller ? authorizeScopes(caller, scopes) : ("invalid" satisfies AuthResult);
    },
  };
}

function createKeyResolver({ keys, jwksUrl, issuer, ...options }: JwtOptions): KeyResolver {
  if (keys !== undefined) return createStaticKeyResolver(keys);
  if (jwksUrl !== undefined) return createJwksKeyResolver(jwksUrl, options);
  if (issuer !== undefined) return createIssuerKeyResolver(issuer, options);
  throw new Error(`Tokens need somebody whose they are: give "issuer", "jwksUrl" or "keys".`);
}

/** The claims of a token that holds. */
async function verifyClaims(
  token: string,
  keys: KeyResolver,
  options: JwtOptions,
): Promise<JwtClaims | undefined> {
  try {
    return await verifyJwt(token, keys, options);
  } catch (error) {
    if (error instanceof VerificationError) return undefined;
    if (!(error instanceof KeysUnavailableError)) throw error;
    const text = "Nobody can be authenticated at the moment; try again soon.";
    throw new A2AError("UNAVAILABLE", text, { cause: error, retryAfter: 5 });
  }
}

function createCallerFromClaims(
  claims: JwtClaims,
  { issuer, mapPrincipal: name, mapTenant: within }: JwtOptions,
): Caller | undefined {
  const { sub } = claims;
  const principal = name ? name(claims) : sub && issuer !== undefined ? `${issuer}|${sub}` : sub;
  // A token of nobody, for example for a client that acts for itself under another claim.
  if (typeof principal !== "string" || principal === "") return undefined;
  const tenant = within ? within(claims) : "";
  // Where tokens are to say the tenant, one that says none must not open all of them.
  if (typeof tenant !== "string") return undefined;
  return { tenant, principal, scopes: parseScopes(claims), claims };
}

/** `scope` is text with spaces (RFC 8693 §4.2); some issuers write `scp`, or a list. */
function parseScopes({ scope, scp }: JwtClaims): string[] {
  const given: unknown = scope ?? scp;
  if (typeof given === "string") return given.split(" ").filter((each) => each !== "");
  return Array.isArray(given) ? given.filter((each) => typeof each === "string") : [];
}
