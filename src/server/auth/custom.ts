import type { SecurityScheme } from "../../protocol/index.ts";
import {
  bearerChallenge,
  checkScopes,
  withScopes,
  type AuthScheme,
  type Credentials,
  type Finding,
} from "./scheme.ts";

export interface CustomOptions {
  /** In the card's `securitySchemes`. */
  readonly name: string;
  /** How the card declares it. */
  readonly declared: SecurityScheme;
  /** Says who asks; undefined when the request has none of these credentials, `invalid` when it has wrong ones. */
  readonly authenticate: (request: Credentials) => Finding | Promise<Finding>;
  /** Scopes that every request needs; the caller has them. */
  readonly scopes?: readonly string[];
  /** For `WWW-Authenticate`. Default: that of a bearer token. */
  readonly challenge?: string;
}

/** A function of your own, declared by the card. */
export function custom({ name, declared, authenticate, challenge, ...options }: CustomOptions): AuthScheme {
  const scopes = checkScopes(options.scopes);
  if (challenge !== undefined && !/^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(challenge))
    throw new Error(`The challenge ${JSON.stringify(challenge)} fits into no header; use visible ASCII.`);
  return {
    name,
    declared,
    scopes,
    challenge: challenge === undefined ? bearerChallenge(scopes) : () => challenge,
    find: async (credentials) => {
      const found = await authenticate(credentials);
      return typeof found === "object" && "principal" in found ? withScopes(found, scopes) : found;
    },
  };
}
