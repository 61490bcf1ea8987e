import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type { Caller } from "../../engine/index.ts";
import {
  getAuthorizationCredentials,
  createBearerChallenge,
  assertValidScopes,
  toCallerFromIdentity,
  authorizeScopes,
  type AuthScheme,
  type AuthRequest,
  type AuthResult,
  type CallerIdentity,
} from "./auth-scheme.ts";
import { computeSaltedDigest } from "./salted-digest.ts";

/** Options for `bearer`. */
export interface BearerOptions {
  /**
   * Static bearer tokens, each with the identity of a caller. A static token must have at least 16
   * characters. Generate static tokens with `openssl rand -base64 32`.
   */
  readonly tokens?: Readonly<Record<string, CallerIdentity>>;
  /**
   * Returns the caller of a bearer token that is not in `tokens`, or `undefined` to reject the token. The
   * server calls `verifyToken` for every request whose token is not in `tokens`.
   */
  readonly verifyToken?: (
    token: string,
    request: AuthRequest,
  ) => Caller | undefined | Promise<Caller | undefined>;
  /** Scopes that every caller must have. Default: none. */
  readonly requiredScopes?: readonly string[];
  /** Name of the authentication scheme in the agent card's `securitySchemes`. Default: `bearer`. */
  readonly schemeName?: string;
  /**
   * Format of the bearer tokens, for example `opaque`. The agent card contains the format as a hint for
   * clients. Default: none.
   */
  readonly bearerFormat?: string;
}

const assertKnownOptions = defineOptionNames<BearerOptions>()(
  "bearer",
  "bearerFormat requiredScopes schemeName tokens verifyToken",
);

/**
 * Creates an authentication scheme for bearer tokens. The scheme accepts the static tokens in `tokens`. The
 * scheme also accepts a token if `verifyToken` returns a caller.
 */
export function bearer(options: BearerOptions): AuthScheme {
  assertKnownOptions(options);
  const { tokens = {}, verifyToken, schemeName = "bearer", bearerFormat } = options;
  const scopes = assertValidScopes(options.requiredScopes);
  const callers = new Map(
    Object.entries(tokens).map(([token, identity]) => [
      computeTokenDigest(token),
      toCallerFromIdentity(identity),
    ]),
  );
  if (callers.size === 0 && !verifyToken)
    throw new Error(`bearer has no tokens; set "tokens" or "verifyToken".`);
  const check = (caller: Caller | undefined): AuthResult =>
    caller ? authorizeScopes(caller, scopes) : "invalid";
  return {
    name: schemeName,
    securityScheme: {
      httpAuthSecurityScheme: { scheme: "Bearer", ...(bearerFormat ? { bearerFormat } : {}) },
    },
    requiredScopes: scopes,
    buildChallenge: createBearerChallenge(scopes),
    authenticate: (request) => {
      const token = parseBearerToken(request);
      if (token === undefined || token === "invalid") return token;
      const known = callers.get(computeSaltedDigest(token.value));
      if (known || !verifyToken) return check(known);
      const verified = verifyToken(token.value, request);
      return verified instanceof Promise ? verified.then(check) : check(verified);
    },
  };
}

/** Returns the bearer token of a request (RFC 6750 §2.1), or `"invalid"` if the token is malformed. */
export function parseBearerToken(request: AuthRequest): { readonly value: string } | "invalid" | undefined {
  const value = getAuthorizationCredentials(request, "bearer");
  if (value === undefined) return undefined;
  return /^[\w.~+/-]+=*$/.test(value) ? { value } : "invalid";
}

function computeTokenDigest(token: string): string {
  if (token === "undefined")
    throw new Error(`A bearer token is "undefined"; set the environment variable that contains the token.`);
  if (token.length >= 16 && /^[\w.~+/-]+=*$/.test(token)) return computeSaltedDigest(token);
  throw new Error(
    "A bearer token requires at least 16 characters of A-Z a-z 0-9 - . _ ~ + /; generate one with openssl rand -base64 32.",
  );
}
