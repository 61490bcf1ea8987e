import { defineOptionNames } from "../../base/usage-checks/index.ts";
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
  /** Name of the authentication scheme in the agent card's `securitySchemes`. */
  readonly schemeName: string;
  /** Declaration of the authentication scheme in the agent card. */
  readonly securityScheme: SecurityScheme;
  /**
   * Returns the caller of a request. Returns `undefined` if the request has no credentials for the scheme, or
   * `"invalid"` if the credentials are invalid.
   */
  readonly authenticate: (request: AuthRequest) => AuthResult | Promise<AuthResult>;
  /** Scopes that every caller must have. Default: none. */
  readonly requiredScopes?: readonly string[];
  /**
   * Value of the `WWW-Authenticate` header for unauthenticated requests. By default, the header contains a
   * bearer challenge.
   */
  readonly challenge?: string;
}

const assertKnownOptions = defineOptionNames<CustomAuthOptions>()(
  "custom",
  "authenticate challenge requiredScopes schemeName securityScheme",
);

/** Creates an authentication scheme from a function and a declaration for the agent card. */
export function custom(options: CustomAuthOptions): AuthScheme {
  assertKnownOptions(options);
  const { schemeName, securityScheme, authenticate, challenge } = options;
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
      return result && typeof result === "object" && "principal" in result
        ? authorizeScopes(result, scopes)
        : result;
    },
  };
}
