import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import {
  assertValidScopes,
  REALM,
  toCallerFromIdentity,
  authorizeScopes,
  type AuthScheme,
  type AuthRequest,
  type AuthResult,
  type CallerIdentity,
} from "./auth-scheme.ts";

/**
 * The stored form of an API key. The server compares API keys in requests with the stored form. Clients
 * cannot use the stored form as an API key.
 */
export interface StoredApiKey {
  /** The public part of the API key, which the server uses for lookups and logs. */
  readonly id: string;
  /** `sha256:` followed by the base64url digest of the complete API key. */
  readonly hash: string;
  readonly principal: string;
  readonly tenant?: string;
  readonly scopes?: readonly string[];
}

/** Options for `apiKeys`. */
export interface ApiKeyOptions {
  /** Location of the API key in a request. */
  readonly in: "header" | "query" | "cookie";
  /** Name of the header, query parameter, or cookie that contains the API key, for example `X-API-Key`. */
  readonly name: string;
  /** The stored API keys, or a function that finds a stored API key by id. */
  readonly keys:
    | readonly StoredApiKey[]
    | ((id: string) => StoredApiKey | undefined | Promise<StoredApiKey | undefined>);
  /** Scopes that every caller must have. The stored API key lists the caller's scopes. Default: none. */
  readonly requiredScopes?: readonly string[];
  /** Name of the authentication scheme in the agent card's `securitySchemes`. Default: `apiKey`. */
  readonly schemeName?: string;
}

const assertKnownOptions = defineOptionNames<ApiKeyOptions>()(
  "apiKeys",
  "in keys name requiredScopes schemeName",
);

/** A new API key: the key for the client, and its stored form for the server. */
export interface GeneratedApiKey {
  /** The API key for the client. The key cannot be shown again, because the server stores only a digest. */
  readonly key: string;
  /** The stored form of the API key, which the server keeps. */
  readonly storedKey: StoredApiKey;
}

/**
 * Generates an API key. An attacker cannot guess an API key with 256 random bits. The key therefore needs no
 * slow hash, unlike a password.
 */
export function generateApiKey(identity: CallerIdentity): GeneratedApiKey {
  const { principal, tenant, scopes } = toCallerFromIdentity(identity);
  const id = randomBytes(6).toString("hex");
  const key = `clq_${id}_${randomBytes(32).toString("base64url")}`;
  const storedKey = {
    id,
    hash: `sha256:${hash("sha256", key, "base64url")}`,
    principal,
    ...(tenant ? { tenant } : {}),
    ...(scopes?.length ? { scopes } : {}),
  };
  return { key, storedKey };
}

/**
 * Creates an authentication scheme for API keys in a header, the query, or a cookie. Generate keys with
 * `generateApiKey` or `colloquy auth new-key`. A header is the safest location for API keys. URLs appear in
 * logs, and browsers add cookies to cross-site requests.
 */
export function apiKeys(options: ApiKeyOptions): AuthScheme {
  assertKnownOptions(options);
  const { in: location, name, keys, schemeName = "apiKey" } = options;
  // The name must be valid in a header, a cookie, and a challenge (RFC 9110 §5.6.2).
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
    throw new Error(
      `The API key name ${JSON.stringify(name)} is not valid; use letters, digits, "-", and "_".`,
    );
  const scopes = assertValidScopes(options.requiredScopes);
  const find = typeof keys === "function" ? keys : createApiKeyLookup(keys);
  const read = API_KEY_READERS[location];
  return {
    name: schemeName,
    securityScheme: { apiKeySecurityScheme: { location, name } },
    requiredScopes: scopes,
    // HTTP requires a challenge, but defines no scheme for API keys.
    buildChallenge: () => `ApiKey ${REALM}, in="${location}", name="${name}"`,
    authenticate: async (credentials) => {
      const key = read(credentials, name);
      if (key === undefined) return undefined;
      return verifyApiKey(key, await find(parseApiKeyId(key)), scopes);
    },
  };
}

function createApiKeyLookup(keys: readonly StoredApiKey[]): (id: string) => StoredApiKey | undefined {
  for (const key of keys) parseKeyHash(key);
  const byId = new Map(keys.map((key) => [key.id, key]));
  return (id) => byId.get(id);
}

/** Verifies an API key. Verification takes the same time for known and unknown key ids. */
function verifyApiKey(key: string, stored: StoredApiKey | undefined, scopes: readonly string[]): AuthResult {
  const digest = hash("sha256", key, "buffer");
  const storedDigest = stored ? parseKeyHash(stored) : digest;
  if (!timingSafeEqual(digest, storedDigest) || !stored) return "invalid";
  return authorizeScopes(toCallerFromIdentity(toCallerIdentityFromStoredKey(stored)), scopes);
}

function toCallerIdentityFromStoredKey({ principal, tenant, scopes }: StoredApiKey): CallerIdentity {
  return { principal, ...(tenant === undefined ? {} : { tenant }), ...(scopes ? { scopes } : {}) };
}

function parseKeyHash({ id, hash: text }: StoredApiKey): Buffer {
  const digest = Buffer.from(/^sha256:([\w-]{43})$/.exec(text)?.[1] ?? "", "base64url");
  if (digest.length === 32 && /^[0-9a-f]+$/.test(id)) return digest;
  throw new Error(
    `The stored API key ${JSON.stringify(id)} is not valid; generate a new one with generateApiKey.`,
  );
}

/** Returns the id of an API key, or an empty string if the text is not an API key. */
function parseApiKeyId(key: string): string {
  return /^clq_([0-9a-f]{12})_[\w-]{43}$/.exec(key)?.[1] ?? "";
}

const API_KEY_READERS: Record<
  ApiKeyOptions["in"],
  (credentials: AuthRequest, name: string) => string | undefined
> = {
  header: ({ header }, name) => header(name.toLowerCase()),
  query: ({ query }, name) => getSingleApiKey(new URLSearchParams(query).getAll(name)),
  cookie: ({ header }, name) => {
    const pairs = (header("cookie") ?? "").split(";").map((pair) => pair.trim());
    return getSingleApiKey(
      pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1)),
    );
  },
};

/**
 * Returns the API key of a request. If a request contains several API keys, returns an empty API key, because
 * a proxy may have checked a different one.
 */
function getSingleApiKey(values: readonly string[]): string | undefined {
  return values.length > 1 ? "" : values[0];
}
