import type { Caller } from "../../engine/index.ts";
import { computeSaltedDigest } from "./salted-digest.ts";
import {
  parseAuthorizationHeader,
  createBearerChallenge,
  assertValidScopes,
  toCaller,
  authorizeScopes,
  type AuthScheme,
  type AuthRequest,
  type AuthResult,
  type CallerIdentity,
} from "./auth-scheme.ts";

export interface BearerOptions {
  /** Static tokens, and whom each stands for. At least 16 characters, best from `openssl rand -base64 32`. */
  readonly tokens?: Readonly<Record<string, CallerIdentity>>;
  /** Says whose token it is; undefined refuses it. Called for every request with a token. */
  readonly verifyToken?: (
    token: string,
    request: AuthRequest,
  ) => Caller | undefined | Promise<Caller | undefined>;
  /** Scopes that every request needs; the grant or the caller has them. */
  readonly requiredScopes?: readonly string[];
  /** In the card's `securitySchemes`. Default `bearer`. */
  readonly schemeName?: string;
  /** A hint for clients, for example `opaque`. */
  readonly bearerFormat?: string;
}

/** `Authorization: Bearer …` with tokens that are known here, or that `verifyToken` knows. */
export function bearer(options: BearerOptions): AuthScheme {
  const { tokens = {}, verifyToken: verify, schemeName: name = "bearer", bearerFormat: format } = options;
  const scopes = assertValidScopes(options.requiredScopes);
  const callers = new Map(
    Object.entries(tokens).map(([token, grant]) => [computeTokenDigest(token), toCaller(grant)]),
  );
  if (callers.size === 0 && !verify) throw new Error(`bearer needs "tokens" or "verify".`);
  const check = (caller: Caller | undefined): AuthResult =>
    caller ? authorizeScopes(caller, scopes) : "invalid";
  return {
    name,
    securityScheme: {
      httpAuthSecurityScheme: { scheme: "Bearer", ...(format ? { bearerFormat: format } : {}) },
    },
    requiredScopes: scopes,
    buildChallenge: createBearerChallenge(scopes),
    authenticate: (credentials) => {
      const token = parseBearerToken(credentials);
      if (token === undefined || token === "invalid") return token;
      const known = callers.get(computeSaltedDigest(token.value));
      if (known || !verify) return check(known);
      const told = verify(token.value, credentials);
      return told instanceof Promise ? told.then(check) : check(told);
    },
  };
}

/** The token of a request (RFC 6750 §2.1). */
export function parseBearerToken(
  credentials: AuthRequest,
): { readonly value: string } | "invalid" | undefined {
  const value = parseAuthorizationHeader(credentials, "bearer");
  if (value === undefined) return undefined;
  return /^[\w.~+/-]+=*$/.test(value) ? { value } : "invalid";
}

function computeTokenDigest(token: string): string {
  if (token === "undefined")
    throw new Error(`A bearer token is "undefined": is the variable set that it comes from?`);
  if (token.length >= 16 && /^[\w.~+/-]+=*$/.test(token)) return computeSaltedDigest(token);
  throw new Error(
    "A bearer token must have at least 16 characters of A-Z a-z 0-9 - . _ ~ + /; make one with openssl rand -base64 32.",
  );
}
