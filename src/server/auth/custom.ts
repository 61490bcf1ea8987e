import type { SecurityScheme } from "../../protocol/index.ts";
import {
  createBearerChallenge,
  assertValidScopes,
  authorizeScopes,
  type AuthScheme,
  type AuthRequest,
  type AuthResult,
} from "./auth-scheme.ts";

/** Options for `custom`. */
export interface CustomAuthOptions {
  /** Name of the scheme in the card's `securitySchemes`. */
  readonly schemeName: string;
  /** Declaration of the scheme in the card. */
  readonly securityScheme: SecurityScheme;
  /**
   * Returns the caller of a request, `undefined` when the request has no credentials of this scheme, or
   * `"invalid"` when they are invalid.
   */
  readonly authenticate: (request: AuthRequest) => AuthResult | Promise<AuthResult>;
  /** Scopes that every request requires. Default: none. */
  readonly requiredScopes?: readonly string[];
  /** Value of `WWW-Authenticate`. Default: a bearer challenge. */
  readonly challenge?: string;
}

/** Creates a scheme from your own function. The card declares the scheme. */
export function custom({
  schemeName,
  securityScheme,
  authenticate,
  challenge,
  ...options
}: CustomAuthOptions): AuthScheme {
  const scopes = assertValidScopes(options.requiredScopes);
  if (challenge !== undefined && !/^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(challenge))
    throw new Error(
      `The challenge ${JSON.stringify(challenge)} is not valid in a header; use visible ASCII.`,
    );
  return {
    name: schemeName,
    securityScheme,
    requiredScopes: scopes,
    buildChallenge: challenge === undefined ? createBearerChallenge(scopes) : () => challenge,
    authenticate: async (request) => {
      const result = await authenticate(request);
      return typeof result === "object" && "principal" in result ? authorizeScopes(result, scopes) : result;
    },
  };
}
