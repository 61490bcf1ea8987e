import { defineOptionNames } from "../../base/usage-checks/index.ts";
import {
  importSharedSecrets,
  importSigningKeyPair,
  signJwt,
  signJwtWithSecret,
  type JWK,
  type JwtClaims,
} from "../../wire/keys/index.ts";
import { systemClock } from "../../engine/index.ts";
import { findIdViolation } from "../../protocol/index.ts";
import { assertValidScopes } from "./auth-scheme.ts";
import {
  CONTEXT_TOKEN_TYPE,
  encodeContextTokenClaims,
  isContextNamespace,
  MAX_CONTEXT_TOKEN_SECONDS,
  MAX_CONTEXTS_PER_TOKEN,
} from "./context-token-claims.ts";

const DEFAULT_EXPIRES_IN_SECONDS = 300;

/** Options for `mintContextToken`. Set either `secret` or `privateKey`. */
export interface MintContextTokenOptions {
  /** Secret that `contextTokens` also has, of at least 32 bytes. If the value is a list, the first secret signs. */
  readonly secret?: string | readonly string[];
  /** Private key as a JWK, whose public key `contextTokens` has. */
  readonly privateKey?: JWK;
  /** Identifier of the agent server, as in the option `audience` of `contextTokens`. */
  readonly audience: string;
  /** The user. Use the same name as the server's other authentication schemes, so that the tasks are the same. */
  readonly principal: string;
  /** Tenant of the user. Default: no tenant. */
  readonly tenant?: string;
  /**
   * Ids of the contexts that the token opens, at most 50. A context need not exist, because its first message starts it.
   * If several users share a principal, check that each context belongs to the user. Default: none.
   */
  readonly contexts?: readonly string[];
  /**
   * Namespace in which the browser may start contexts, such as the id of the browser session: 8 to 128 characters of
   * `A-Z a-z 0-9 _ -`. The token opens all contexts of the namespace. By default, the browser starts no other contexts.
   */
  readonly contextNamespace?: string;
  /** Ids of the agents that the token opens. Default: all agents. */
  readonly agents?: readonly string[];
  /** Scopes of the caller, which agents can read. Default: none. */
  readonly scopes?: readonly string[];
  /** Lifetime of the token in seconds, at most 3,600. Default: 300. */
  readonly expiresInSeconds?: number;
  /** Returns the current time in milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
}

/** A context token for a browser. */
export interface ContextToken {
  /** The bearer token, for the option `auth.bearer` of `connect`. */
  readonly token: string;
  /** Time in milliseconds since 1970 at which the token expires. */
  readonly expiresAt: number;
}

const assertKnownOptions = defineOptionNames<MintContextTokenOptions>()(
  "mintContextToken",
  "agents audience contextNamespace contexts expiresInSeconds now principal privateKey scopes secret tenant",
);

/**
 * Creates a short-lived token for the browser of one user. The token opens only some contexts of the user on an agent
 * server with the authentication scheme `contextTokens`. Call `mintContextToken` on a server that has authenticated the
 * user.
 */
export async function mintContextToken(options: MintContextTokenOptions): Promise<ContextToken> {
  assertKnownOptions(options);
  assertValidGrant(options);
  const {
    audience,
    principal,
    tenant = "",
    contexts = [],
    contextNamespace,
    agents,
    now = () => systemClock.now(),
  } = options;
  const { expiresInSeconds = DEFAULT_EXPIRES_IN_SECONDS } = options;
  const scopes = assertValidScopes(options.scopes);
  const issuedAt = Math.floor(now() / 1000);
  const expiresAt = issuedAt + expiresInSeconds;
  const contextScope = {
    contextIds: contexts,
    ...(contextNamespace === undefined ? {} : { namespace: contextNamespace }),
    ...(agents === undefined ? {} : { agentIds: agents }),
  };
  const token = await sign(options, {
    ...encodeContextTokenClaims({ principal, tenant, scopes, contextScope }),
    aud: audience,
    iat: issuedAt,
    exp: expiresAt,
  });
  return { token, expiresAt: expiresAt * 1000 };
}

async function sign(
  { secret, privateKey }: Pick<MintContextTokenOptions, "secret" | "privateKey">,
  claims: JwtClaims,
): Promise<string> {
  if (secret !== undefined && privateKey === undefined)
    return await signJwtWithSecret(claims, importSharedSecrets(secret), CONTEXT_TOKEN_TYPE);
  if (privateKey !== undefined && secret === undefined)
    return await signJwt(claims, await importSigningKeyPair({ privateKey }), CONTEXT_TOKEN_TYPE);
  throw new Error(`mintContextToken requires a key; set either "secret" or "privateKey".`);
}

/** Throws an error if the token would open nothing, or if the server would reject the token. */
function assertValidGrant(options: MintContextTokenOptions): void {
  const { audience, principal, contexts = [], contextNamespace, expiresInSeconds } = options;
  for (const [name, value] of Object.entries({ audience, principal }))
    if (typeof value !== "string" || value === "")
      throw new Error(`${JSON.stringify(name)} is missing; set a text that is not empty.`);
  for (const name of ["contexts", "agents", "scopes"] as const)
    if (options[name] !== undefined && !Array.isArray(options[name]))
      throw new Error(`${JSON.stringify(name)} is not an array; write ${name}: ["…"].`);
  if (contexts.length === 0 && contextNamespace === undefined)
    throw new Error(`The token would open no context; set "contexts" or "contextNamespace".`);
  if (contexts.length > MAX_CONTEXTS_PER_TOKEN)
    throw new Error(
      `"contexts" has ${contexts.length} ids, and the limit is ${MAX_CONTEXTS_PER_TOKEN}; mint a token for the open conversations.`,
    );
  for (const id of contexts) {
    const violation = typeof id === "string" && id !== "" ? findIdViolation(id) : "is empty";
    if (violation !== undefined) throw new Error(`"contexts" has an id that ${violation}; set context ids.`);
  }
  if (contextNamespace !== undefined && !isContextNamespace(contextNamespace))
    throw new Error(
      `"contextNamespace" is ${JSON.stringify(contextNamespace)}; use 8 to 128 characters of A-Z a-z 0-9 _ -.`,
    );
  if (expiresInSeconds !== undefined && !isLifetime(expiresInSeconds))
    throw new Error(
      `"expiresInSeconds" is ${expiresInSeconds}; use a whole number from 1 to ${MAX_CONTEXT_TOKEN_SECONDS}.`,
    );
}

function isLifetime(seconds: number): boolean {
  return Number.isInteger(seconds) && seconds >= 1 && seconds <= MAX_CONTEXT_TOKEN_SECONDS;
}
