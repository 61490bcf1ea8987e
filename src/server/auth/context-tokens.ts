import { defineOptionNames } from "../../base/usage-checks/index.ts";
import {
  createStaticKeyResolver,
  importSharedSecrets,
  VerificationError,
  verifyJwt,
  verifyJwtWithSecrets,
  type JSONWebKeySet,
  type JWK,
  type JwtClaims,
  type SignatureAlgorithm,
  importSigningKeyPair,
  signJwt,
  signJwtWithSecret,
} from "../../wire/keys/index.ts";
import { fromBase64, isObject, findIdViolation } from "../../protocol/index.ts";
import { assertValidScopes, authorizeScopes, createBearerChallenge, type AuthScheme } from "./auth-scheme.ts";
import { isTextList } from "./authenticator.ts";
import { parseBearerToken } from "./bearer.ts";
import { type Caller, type ContextScope, systemClock } from "../../engine/index.ts";

/** Options for `contextTokens`. Set either `secret` or `keys`. */
export interface ContextTokenOptions {
  /**
   * Secret that `mintContextToken` also has, of at least 32 bytes. A list has several secrets during key rotation, and
   * all of them verify. Algorithm: HS256.
   */
  readonly secret?: string | readonly string[];
  /** Public keys of `mintContextToken`. Set several keys during key rotation. */
  readonly keys?: JSONWebKeySet | readonly JWK[];
  /** Algorithm of `keys`. Default: ES256. */
  readonly algorithm?: SignatureAlgorithm;
  /** Identifier of this server in the tokens. The server rejects tokens for another audience. */
  readonly audience: string;
  /** Scopes that every token must contain. Default: none. */
  readonly requiredScopes?: readonly string[];
  /** Allowed difference between the clocks of the two servers, in seconds. Default: 5. */
  readonly clockTolerance?: number;
  /** Name of the authentication scheme in the agent card's `securitySchemes`. Default: `contextToken`. */
  readonly schemeName?: string;
  /** Returns the current time in milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
}

const assertKnownOptions = defineOptionNames<ContextTokenOptions>()(
  "contextTokens",
  "algorithm audience clockTolerance keys now requiredScopes schemeName secret",
);

/**
 * Creates an authentication scheme for the tokens of `mintContextToken`. A token limits its caller to some contexts and
 * agents, in all operations. Other bearer tokens are left to the other schemes.
 */
export function contextTokens(options: ContextTokenOptions): AuthScheme {
  assertKnownOptions(options);
  const { audience, schemeName = "contextToken" } = options;
  if (typeof audience !== "string" || audience === "")
    throw new Error(`The "audience" is missing; set the identifier of this server in the tokens.`);
  const scopes = assertValidScopes(options.requiredScopes);
  const verify = createVerifier(options);
  return {
    name: schemeName,
    securityScheme: { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "JWT" } },
    requiredScopes: scopes,
    buildChallenge: createBearerChallenge(scopes),
    authenticate: async (request) => {
      const token = parseBearerToken(request);
      if (token === undefined || token === "invalid" || !isContextToken(token.value)) return undefined;
      try {
        const caller = decodeContextTokenClaims(await verify(token.value));
        if (caller) return authorizeScopes(caller, scopes);
        return { invalidReason: "a claim of the context token has the wrong type; use mintContextToken" };
      } catch (error) {
        if (!(error instanceof VerificationError)) throw error;
        return { invalidReason: explainRejection(error, audience) };
      }
    },
  };
}

function createVerifier(options: ContextTokenOptions): (token: string) => Promise<JwtClaims> {
  const { secret, keys, algorithm = "ES256", audience, clockTolerance, now } = options;
  const validation = {
    audience,
    typ: CONTEXT_TOKEN_TYPE,
    requiredClaims: ["exp", "iat"],
    maxAge: MAX_CONTEXT_TOKEN_SECONDS,
    ...(clockTolerance === undefined ? {} : { clockTolerance }),
    ...(now ? { now } : {}),
  };
  if (secret !== undefined && keys === undefined) {
    const secrets = importSharedSecrets(secret);
    return (token) => verifyJwtWithSecrets(token, secrets, validation);
  }
  if (keys === undefined || secret !== undefined)
    throw new Error(`contextTokens requires a key; set either "secret" or "keys".`);
  const resolver = createStaticKeyResolver(keys, now ? { now } : {});
  return (token) => verifyJwt(token, resolver, { ...validation, algorithms: [algorithm] });
}

/** Reads the type of a token without verification, to leave the tokens of other schemes to those schemes. */
function isContextToken(token: string): boolean {
  try {
    const [head = ""] = token.split(".");
    const base64 = head.replaceAll("-", "+").replaceAll("_", "/");
    const header: unknown = JSON.parse(new TextDecoder().decode(fromBase64(base64)));
    return isObject(header) && header["typ"] === CONTEXT_TOKEN_TYPE;
  } catch {
    return false;
  }
}

/** Returns the reason of a rejection for the log, with a remedy. */
function explainRejection({ field, message }: VerificationError, audience: string): string {
  if (field === "exp" || field === "iat")
    return `${field} of the context token: ${message}; mint a new token, and compare the clocks of the two servers`;
  if (field === "aud")
    return `aud of the context token: ${message}; set "audience" of mintContextToken to ${JSON.stringify(audience)}`;
  if (field === "signature")
    return "signature of the context token: no key matches; use the same key in mintContextToken and contextTokens";
  return `the context token is invalid: ${message}`;
}

/** Value of `typ` in the header of context tokens. Other tokens with the same key are no context tokens. */
const CONTEXT_TOKEN_TYPE = "colloquy-context+jwt";
/** Maximum lifetime of a context token in seconds. */
const MAX_CONTEXT_TOKEN_SECONDS = 3600;
/** Maximum number of contexts in a context token. Servers accept headers of at least 8 KiB. */
const MAX_CONTEXTS_PER_TOKEN = 50;

/** The caller and the contexts of a context token. */
interface ContextTokenGrant {
  readonly principal: string;
  readonly tenant: string;
  readonly scopes: readonly string[];
  readonly contextScope: ContextScope;
}

/** Encodes a grant as the claims of a token. */
function encodeContextTokenClaims({
  principal,
  tenant,
  scopes,
  contextScope: { contextIds, namespace, agentIds },
}: ContextTokenGrant): JwtClaims {
  return {
    sub: principal,
    contexts: [...contextIds],
    ...(tenant === "" ? {} : { tenant }),
    ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
    ...(namespace === undefined ? {} : { context_namespace: namespace }),
    ...(agentIds === undefined ? {} : { agents: [...agentIds] }),
  };
}

/** Returns the caller of a verified token, or `undefined` if a claim has the wrong type. */
function decodeContextTokenClaims(claims: JwtClaims): Caller | undefined {
  const { sub, tenant = "", scope = "", contexts, context_namespace: namespace, agents } = claims;
  if (typeof sub !== "string" || sub === "") return undefined;
  if (typeof tenant !== "string" || typeof scope !== "string") return undefined;
  if (!isTextList(contexts) || (agents !== undefined && !isTextList(agents))) return undefined;
  if (namespace !== undefined && !isContextNamespace(namespace)) return undefined;
  return {
    tenant,
    principal: sub,
    scopes: scope.split(" ").filter((name) => name !== ""),
    claims,
    contextScope: {
      contextIds: contexts,
      ...(namespace === undefined ? {} : { namespace }),
      ...(agents === undefined ? {} : { agentIds: agents }),
    },
  };
}

/** A namespace contains no dot, because a dot separates the namespace from the rest of a context id. */
function isContextNamespace(value: unknown): value is string {
  return typeof value === "string" && /^[\w-]{8,128}$/.test(value);
}

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

const assertKnownMintOptions = defineOptionNames<MintContextTokenOptions>()(
  "mintContextToken",
  "agents audience contextNamespace contexts expiresInSeconds now principal privateKey scopes secret tenant",
);

/**
 * Creates a short-lived token for the browser of one user. The token opens only some contexts of the user on an agent
 * server with the authentication scheme `contextTokens`. Call `mintContextToken` on a server that has authenticated the
 * user.
 */
export async function mintContextToken(options: MintContextTokenOptions): Promise<ContextToken> {
  assertKnownMintOptions(options);
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
