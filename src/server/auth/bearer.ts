import type { Caller } from "../../engine/index.ts";
import { privateDigest } from "./digest.ts";
import {
  authorization,
  bearerChallenge,
  checkScopes,
  toCaller,
  withScopes,
  type AuthScheme,
  type Credentials,
  type Finding,
  type Grant,
} from "./scheme.ts";

export interface BearerOptions {
  /** Static tokens, and whom each stands for. At least 16 characters, best from `openssl rand -base64 32`. */
  readonly tokens?: Readonly<Record<string, Grant>>;
  /** Says whose token it is; undefined refuses it. Called for every request with a token. */
  readonly verify?: (token: string, request: Credentials) => Caller | undefined | Promise<Caller | undefined>;
  /** Scopes that every request needs; the grant or the caller has them. */
  readonly scopes?: readonly string[];
  /** In the card's `securitySchemes`. Default `bearer`. */
  readonly name?: string;
  /** A hint for clients, for example `opaque`. */
  readonly format?: string;
}

/** `Authorization: Bearer …` with tokens that are known here, or that `verify` knows. */
export function bearer(options: BearerOptions): AuthScheme {
  const { tokens = {}, verify, name = "bearer", format } = options;
  const scopes = checkScopes(options.scopes);
  const callers = new Map(Object.entries(tokens).map(([token, grant]) => [digestOf(token), toCaller(grant)]));
  if (callers.size === 0 && !verify) throw new Error(`bearer needs "tokens" or "verify".`);
  const check = (caller: Caller | undefined): Finding => (caller ? withScopes(caller, scopes) : "invalid");
  return {
    name,
    declared: { httpAuthSecurityScheme: { scheme: "Bearer", ...(format ? { bearerFormat: format } : {}) } },
    scopes,
    challenge: bearerChallenge(scopes),
    find: (credentials) => {
      const token = bearerToken(credentials);
      if (token === undefined || token === "invalid") return token;
      const known = callers.get(privateDigest(token.value));
      if (known || !verify) return check(known);
      const told = verify(token.value, credentials);
      return told instanceof Promise ? told.then(check) : check(told);
    },
  };
}

/** The token of a request (RFC 6750 §2.1). */
export function bearerToken(credentials: Credentials): { readonly value: string } | "invalid" | undefined {
  const value = authorization(credentials, "bearer");
  if (value === undefined) return undefined;
  return /^[\w.~+/-]+=*$/.test(value) ? { value } : "invalid";
}

function digestOf(token: string): string {
  if (token === "undefined")
    throw new Error(`A bearer token is "undefined": is the variable set that it comes from?`);
  if (token.length >= 16 && /^[\w.~+/-]+=*$/.test(token)) return privateDigest(token);
  throw new Error(
    "A bearer token must have at least 16 characters of A-Z a-z 0-9 - . _ ~ + /; make one with openssl rand -base64 32.",
  );
}
