import type { Caller } from "../../engine/index.ts";
import type { SecurityScheme } from "../../protocol/index.ts";
import type { HttpRequest } from "../exchange.ts";

/**
 * What an `authenticate` function sees of a request. Cookies are in the header `cookie`; a certificate there is only
 * where TLS ends at this server and asks for one.
 */
export type Credentials = Pick<HttpRequest, "method" | "path" | "query" | "header" | "certificate">;

/** Says who asks; undefined refuses the request with 401. Never called for the public card. */
export type Authenticate = (request: Credentials) => Caller | undefined | Promise<Caller | undefined>;

/** Whom credentials stand for: a name alone, or more. */
export type Grant = string | (Pick<Caller, "principal" | "scopes"> & { readonly tenant?: string });

/**
 * What a scheme finds in a request: a caller; `undefined` when there is nothing of its kind; `invalid` credentials (why,
 * only the log may know); or good ones that lack scopes.
 */
export type Finding = Caller | undefined | "invalid" | { readonly lacks: readonly string[] };

/** One way to authenticate: lets callers in, and is declared by the card. */
export interface AuthScheme {
  /** Its name in the card's `securitySchemes`. */
  readonly name: string;
  readonly declared: SecurityScheme;
  /** The scopes that every request needs, as the card's `securityRequirements` have them. */
  readonly scopes: readonly string[];
  /** A challenge for `WWW-Authenticate` (RFC 9110 §11.6.1). `fault`: what was wrong, as RFC 6750 §3.1 names it. */
  challenge(fault?: "invalid_token" | "insufficient_scope"): string;
  find(credentials: Credentials): Finding | Promise<Finding>;
}

/** What `WWW-Authenticate` calls what is protected. */
export const REALM = `realm="a2a"`;

/** The caller of a grant. */
export function toCaller(grant: Grant): Caller {
  const caller = typeof grant === "string" ? { tenant: "", principal: grant } : { tenant: "", ...grant };
  if (caller.principal !== "") return caller;
  throw new Error("Credentials must stand for somebody: give them a principal that is not empty.");
}

/** The caller, if the scopes suffice. */
export function withScopes(caller: Caller, required: readonly string[]): Finding {
  if (required.length === 0) return caller;
  const lacks = required.filter((scope) => !caller.scopes?.includes(scope));
  return lacks.length === 0 ? caller : { lacks: required };
}

/** Scopes that can stand in a header (RFC 6749 §3.3). */
export function checkScopes(scopes: readonly string[] = []): readonly string[] {
  const wrong = scopes.find((scope) => !/^[!#-[\]-~]+$/.test(scope));
  if (wrong === undefined) return scopes;
  throw new Error(
    `${JSON.stringify(wrong)} is no scope: use visible ASCII without spaces, quotes and backslashes.`,
  );
}

/** The credentials of an `Authorization` header of a scheme; undefined when it is another's, or missing. */
export function authorization({ header }: Credentials, scheme: string): string | undefined {
  const value = header("authorization");
  if (value === undefined || value.slice(0, scheme.length).toLowerCase() !== scheme) return undefined;
  if (value.length === scheme.length) return "";
  return value[scheme.length] === " " ? value.slice(scheme.length + 1).trim() : undefined;
}

/** A bearer challenge (RFC 6750 §3). */
export function bearerChallenge(scopes: readonly string[]): AuthScheme["challenge"] {
  const scope = scopes.length > 0 ? `, scope="${scopes.join(" ")}"` : "";
  return (fault) => `Bearer ${REALM}${fault ? `, error="${fault}"` : ""}${scope}`;
}
