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
} from "../../wire/keys/index.ts";
import { fromBase64, isObject } from "../../protocol/index.ts";
import { assertValidScopes, authorizeScopes, createBearerChallenge, type AuthScheme } from "./auth-scheme.ts";
import { parseBearerToken } from "./bearer.ts";
import {
  CONTEXT_TOKEN_TYPE,
  decodeContextTokenClaims,
  MAX_CONTEXT_TOKEN_SECONDS,
} from "./context-token-claims.ts";

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
