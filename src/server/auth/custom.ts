import type { SecurityScheme } from "../../protocol/index.ts";
import {
  createBearerChallenge,
  assertValidScopes,
  authorizeScopes,
  type AuthScheme,
  type AuthRequest,
  type AuthResult,
} from "./auth-scheme.ts";

export interface CustomAuthOptions {
  /** In the card's `securitySchemes`. */
  readonly schemeName: string;
  /** How the card declares it. */
  readonly securityScheme: SecurityScheme;
  /** Says who asks; undefined when the request has none of these credentials, `invalid` when it has wrong ones. */
  readonly authenticate: (request: AuthRequest) => AuthResult | Promise<AuthResult>;
  /** Scopes that every request needs; the caller has them. */
  readonly requiredScopes?: readonly string[];
  /** For `WWW-Authenticate`. Default: that of a bearer token. */
  readonly challenge?: string;
}

/** A function of your own, declared by the card. */
export function custom({
  schemeName: name,
  securityScheme: declared,
  authenticate,
  challenge,
  ...options
}: CustomAuthOptions): AuthScheme {
  const scopes = assertValidScopes(options.requiredScopes);
  if (challenge !== undefined && !/^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(challenge))
    throw new Error(`The challenge ${JSON.stringify(challenge)} fits into no header; use visible ASCII.`);
  return {
    name,
    securityScheme: declared,
    requiredScopes: scopes,
    buildChallenge: challenge === undefined ? createBearerChallenge(scopes) : () => challenge,
    authenticate: async (credentials) => {
      const found = await authenticate(credentials);
      return typeof found === "object" && "principal" in found ? authorizeScopes(found, scopes) : found;
    },
  };
}
