import type { Caller } from "../../engine/index.ts";
import type { SecurityScheme } from "../../protocol/index.ts";
import type { HttpRequest } from "../http-exchange.ts";

/**
 * The part of an HTTP request that an `authenticate` function receives. The header `cookie` contains all
 * cookies. The function `certificate` returns a client certificate only on a TLS server that requests client
 * certificates. `remoteAddress` is the IP address of the client or of the last proxy.
 */
export type AuthRequest = Readonly<
  Pick<HttpRequest, "method" | "path" | "query" | "header" | "certificate" | "remoteAddress">
>;

/**
 * Function that returns the caller of a request, or `undefined` to reject the request with HTTP 401. The
 * server does not authenticate requests for the public agent card.
 */
export type AuthenticateFunction = (request: AuthRequest) => Caller | undefined | Promise<Caller | undefined>;

/**
 * The identity of a caller: either a principal, or an object with a principal, a tenant, scopes, and the contexts to
 * which the caller is limited.
 */
export type CallerIdentity =
  | string
  | (Pick<Caller, "principal" | "scopes" | "contextScope"> & { readonly tenant?: string });

/**
 * The result of an authentication scheme. For valid credentials, the result is the caller. Without
 * credentials for the scheme, the result is `undefined`. For invalid credentials, the result is `"invalid"`, or
 * an object with `invalidReason`. Only the server's observer receives the reason, which must contain no secrets.
 * If the caller lacks required scopes, the result is an object with `missingScopes`.
 */
export type AuthResult =
  | Caller
  | undefined
  | "invalid"
  | { readonly invalidReason: string }
  | { readonly missingScopes: readonly string[] };

/** Authenticates callers, and provides the declaration of the authentication scheme for agent cards. */
export interface AuthScheme {
  /** Name of the authentication scheme in the agent card's `securitySchemes`. */
  readonly name: string;
  readonly securityScheme: SecurityScheme;
  /** Scopes that every caller must have. The agent card lists the scopes in `securityRequirements`. */
  readonly requiredScopes: readonly string[];
  /**
   * Returns a challenge for the `WWW-Authenticate` header (RFC 9110 §11.6.1). The parameter `fault` is an
   * error code of RFC 6750 §3.1.
   */
  buildChallenge(fault?: "invalid_token" | "insufficient_scope"): string;
  authenticate(credentials: AuthRequest): AuthResult | Promise<AuthResult>;
}

/** Protection space in `WWW-Authenticate` challenges. */
export const REALM = `realm="a2a"`;

/** Converts an identity to a caller. Throws an error if the principal is empty. */
export function toCallerFromIdentity(identity: CallerIdentity): Caller {
  const caller =
    typeof identity === "string" ? { tenant: "", principal: identity } : { tenant: "", ...identity };
  if (caller.principal !== "") return caller;
  throw new Error("Credentials require a principal; set a principal that is not empty.");
}

/** Returns the caller if the caller has all required scopes, and otherwise an object with `missingScopes`. */
export function authorizeScopes(caller: Caller, required: readonly string[]): AuthResult {
  if (required.length === 0) return caller;
  const missing = required.filter((scope) => !caller.scopes?.includes(scope));
  return missing.length === 0 ? caller : { missingScopes: required };
}

/** Throws an error if a scope contains invalid characters (RFC 6749 §3.3). */
export function assertValidScopes(scopes: readonly string[] = []): readonly string[] {
  const invalid = scopes.find((scope) => !/^[!#-[\]-~]+$/.test(scope));
  if (invalid === undefined) return scopes;
  throw new Error(
    `The scope ${JSON.stringify(invalid)} is not valid; use visible ASCII without spaces, quotes, and backslashes.`,
  );
}

/**
 * Returns the credentials in an `Authorization` header. Returns `undefined` if the header is missing or
 * contains another authentication scheme.
 */
export function getAuthorizationCredentials({ header }: AuthRequest, scheme: string): string | undefined {
  const value = header("authorization");
  if (value === undefined || value.slice(0, scheme.length).toLowerCase() !== scheme) return undefined;
  if (value.length === scheme.length) return "";
  return value[scheme.length] === " " ? value.slice(scheme.length + 1).trim() : undefined;
}

export function createBearerChallenge(scopes: readonly string[]): AuthScheme["buildChallenge"] {
  const scope = scopes.length > 0 ? `, scope="${scopes.join(" ")}"` : "";
  return (fault) => `Bearer ${REALM}${fault ? `, error="${fault}"` : ""}${scope}`;
}
