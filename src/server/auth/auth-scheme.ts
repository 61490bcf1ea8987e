import type { Caller } from "../../engine/index.ts";
import type { SecurityScheme } from "../../protocol/index.ts";
import type { HttpRequest } from "../http-exchange.ts";

/**
 * What an `authenticate` function sees of a request. Cookies are in the header `cookie`; a certificate there is only
 * where TLS ends at this server and asks for one.
 */
export type AuthRequest = Pick<HttpRequest, "method" | "path" | "query" | "header" | "certificate">;

/** Says who asks; undefined refuses the request with 401. Never called for the public card. */
export type AuthenticateFunction = (request: AuthRequest) => Caller | undefined | Promise<Caller | undefined>;

/** Whom credentials stand for: a name alone, or more. */
export type CallerIdentity = string | (Pick<Caller, "principal" | "scopes"> & { readonly tenant?: string });

/**
 * What a scheme finds in a request: a caller; `undefined` when there is nothing of its kind; `invalid` credentials (why,
 * only the log may know); or good ones that lack scopes.
 */
export type AuthResult = Caller | undefined | "invalid" | { readonly missingScopes: readonly string[] };

/** One way to authenticate: lets callers in, and is declared by the card. */
export interface AuthScheme {
  /** Its name in the card's `securitySchemes`. */
  readonly name: string;
  readonly securityScheme: SecurityScheme;
  /** The scopes that every request needs, as the card's `securityRequirements` have them. */
  readonly requiredScopes: readonly string[];
  /** A challenge for `WWW-Authenticate` (RFC 9110 §11.6.1). `fault`: what was wrong, as RFC 6750 §3.1 names it. */
  buildChallenge(fault?: "invalid_token" | "insufficient_scope"): string;
  authenticate(credentials: AuthRequest): AuthResult | Promise<AuthResult>;
}

/** What `WWW-Authenticate` calls what is protected. */
export const REALM = `realm="a2a"`;

/** The caller of a grant. */
export function toCaller(grant: CallerIdentity): Caller {
  const caller = typeof grant === "string" ? { tenant: "", principal: grant } : { tenant: "", ...grant };
  if (caller.principal !== "") return caller;
  throw new Error("Credentials must stand for somebody: give them a principal that is not empty.");
}

/** The caller, if the scopes suffice. */
export function authorizeScopes(caller: Caller, required: readonly string[]): AuthResult {
  if (required.length === 0) return caller;
  const lacks = required.filter((scope) => !caller.scopes?.includes(scope));
  return lacks.length === 0 ? caller : { missingScopes: required };
}

/** Scopes that can stand in a header (RFC 6749 §3.3). */
export function assertValidScopes(scopes: readonly string[] = []): readonly string[] {
  const wrong = scopes.find((scope) => !/^[!#-[\]-~]+$/.test(scope));
  if (wrong === undefined) return scopes;
  throw new Error(
    `${JSON.stringify(wrong)} is no scope: use visible ASCII without spaces, quotes and backslashes.`,
  );
}

/** The credentials of an `Authorization` header of a scheme; undefined when it is another's, or missing. */
export function parseAuthorizationHeader({ header }: AuthRequest, scheme: string): string | undefined {
  const value = header("authorization");
  if (value === undefined || value.slice(0, scheme.length).toLowerCase() !== scheme) return undefined;
  if (value.length === scheme.length) return "";
  return value[scheme.length] === " " ? value.slice(scheme.length + 1).trim() : undefined;
}

/** A bearer challenge (RFC 6750 §3). */
export function createBearerChallenge(scopes: readonly string[]): AuthScheme["buildChallenge"] {
  const scope = scopes.length > 0 ? `, scope="${scopes.join(" ")}"` : "";
  return (fault) => `Bearer ${REALM}${fault ? `, error="${fault}"` : ""}${scope}`;
}
