import type { Caller } from "../../engine/index.ts";
import type { SecurityScheme } from "../../protocol/index.ts";
import type { HttpRequest } from "../http-exchange.ts";

/**
 * The parts of a request that an `authenticate` function receives. Cookies are in the `cookie` header. The
 * member `certificate` is set only when TLS ends at this server and requests client certificates.
 */
export type AuthRequest = Pick<HttpRequest, "method" | "path" | "query" | "header" | "certificate">;

/**
 * Returns the caller of a request. A result of `undefined` rejects the request with status 401. The function
 * is not called for the public card.
 */
export type AuthenticateFunction = (request: AuthRequest) => Caller | undefined | Promise<Caller | undefined>;

/** The identity that credentials represent: a principal, or a principal with a tenant and scopes. */
export type CallerIdentity = string | (Pick<Caller, "principal" | "scopes"> & { readonly tenant?: string });

/**
 * The result of an authentication scheme: a caller, or `undefined` for a request without credentials of this
 * scheme. The result `"invalid"` reports invalid credentials, and `missingScopes` reports credentials without
 * the required scopes.
 */
export type AuthResult = Caller | undefined | "invalid" | { readonly missingScopes: readonly string[] };

/** An authentication scheme. A scheme authenticates callers, and the agent card declares it. */
export interface AuthScheme {
  /** Name of the scheme in the card's `securitySchemes`. */
  readonly name: string;
  readonly securityScheme: SecurityScheme;
  /** Scopes that every request requires, as listed in the card's `securityRequirements`. */
  readonly requiredScopes: readonly string[];
  /**
   * Returns a challenge for `WWW-Authenticate` (RFC 9110 §11.6.1). The parameter `fault` is an error code of
   * RFC 6750 §3.1.
   */
  buildChallenge(fault?: "invalid_token" | "insufficient_scope"): string;
  authenticate(credentials: AuthRequest): AuthResult | Promise<AuthResult>;
}

/** Protection space in `WWW-Authenticate` challenges. */
export const REALM = `realm="a2a"`;

/** Returns the caller for an identity. Throws for an empty principal. */
export function toCaller(identity: CallerIdentity): Caller {
  const caller =
    typeof identity === "string" ? { tenant: "", principal: identity } : { tenant: "", ...identity };
  if (caller.principal !== "") return caller;
  throw new Error("Credentials require a principal; set a principal that is not empty.");
}

/** Returns the caller if it has the required scopes, otherwise the required scopes. */
export function authorizeScopes(caller: Caller, required: readonly string[]): AuthResult {
  if (required.length === 0) return caller;
  const missing = required.filter((scope) => !caller.scopes?.includes(scope));
  return missing.length === 0 ? caller : { missingScopes: required };
}

/** Returns the scopes. Throws for a scope that is not valid in a header (RFC 6749 §3.3). */
export function assertValidScopes(scopes: readonly string[] = []): readonly string[] {
  const invalid = scopes.find((scope) => !/^[!#-[\]-~]+$/.test(scope));
  if (invalid === undefined) return scopes;
  throw new Error(
    `The scope ${JSON.stringify(invalid)} is not valid; use visible ASCII without spaces, quotes, and backslashes.`,
  );
}

/**
 * Returns the credentials of an `Authorization` header. Returns `undefined` when the header is missing or
 * names another scheme.
 */
export function parseAuthorizationHeader({ header }: AuthRequest, scheme: string): string | undefined {
  const value = header("authorization");
  if (value === undefined || value.slice(0, scheme.length).toLowerCase() !== scheme) return undefined;
  if (value.length === scheme.length) return "";
  return value[scheme.length] === " " ? value.slice(scheme.length + 1).trim() : undefined;
}

/** Returns a function that builds bearer challenges (RFC 6750 §3). */
export function createBearerChallenge(scopes: readonly string[]): AuthScheme["buildChallenge"] {
  const scope = scopes.length > 0 ? `, scope="${scopes.join(" ")}"` : "";
  return (fault) => `Bearer ${REALM}${fault ? `, error="${fault}"` : ""}${scope}`;
}
