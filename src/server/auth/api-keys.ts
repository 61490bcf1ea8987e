import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import {
  assertValidScopes,
  REALM,
  toCaller,
  authorizeScopes,
  type AuthScheme,
  type AuthRequest,
  type AuthResult,
  type CallerIdentity,
} from "./auth-scheme.ts";

/** A key as a server keeps it: enough to recognise it, not to use it. */
export interface StoredApiKey {
  /** The part of the key that is no secret: finds it, names it in logs. */
  readonly id: string;
  /** `sha256:` and the digest of the whole key, base64url. */
  readonly hash: string;
  readonly principal: string;
  readonly tenant?: string;
  readonly scopes?: readonly string[];
}

export interface ApiKeyOptions {
  readonly in: "header" | "query" | "cookie";
  /** Of the header, query parameter or cookie; for example `X-API-Key`. */
  readonly name: string;
  /** The keys, or how to find one by its id. */
  readonly keys:
    | readonly StoredApiKey[]
    | ((id: string) => StoredApiKey | undefined | Promise<StoredApiKey | undefined>);
  /** Scopes that every request needs; the stored key has them. */
  readonly requiredScopes?: readonly string[];
  /** In the card's `securitySchemes`. Default `apiKey`. */
  readonly schemeName?: string;
}

export interface GeneratedApiKey {
  /** For whoever is to use it. Not kept anywhere: it can not be shown again. */
  readonly key: string;
  /** For the server. */
  readonly storedKey: StoredApiKey;
}

/**
 * A new key. One round of SHA-256 is enough for it, as it would not be for a password: nobody guesses 256 random bits.
 */
export function generateApiKey(grant: CallerIdentity): GeneratedApiKey {
  const { principal, tenant, scopes } = toCaller(grant);
  const id = randomBytes(6).toString("hex");
  const key = `clq_${id}_${randomBytes(32).toString("base64url")}`;
  const stored = {
    id,
    hash: `sha256:${hash("sha256", key, "base64url")}`,
    principal,
    ...(tenant ? { tenant } : {}),
    ...(scopes?.length ? { scopes } : {}),
  };
  return { key, storedKey: stored };
}

/**
 * API keys in a header, the query or a cookie; made by `generateApiKey` or `colloquy auth new-key`. Prefer a header: URLs get
 * into logs, and browsers send cookies along with requests that another site has made them send.
 */
export function apiKeys(options: ApiKeyOptions): AuthScheme {
  const { in: location, name, keys, schemeName: scheme = "apiKey" } = options;
  // A name that can stand in a header, in a cookie and in a challenge (RFC 9110 §5.6.2).
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
    throw new Error(`${JSON.stringify(name)} can not be the name of an API key.`);
  const scopes = assertValidScopes(options.requiredScopes);
  const find = typeof keys === "function" ? keys : createApiKeyLookup(keys);
  const read = API_KEY_READERS[location];
  return {
    name: scheme,
    securityScheme: { apiKeySecurityScheme: { location, name } },
    requiredScopes: scopes,
    // HTTP has no scheme for API keys, but wants one to be named.
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

/** The digests are compared also when there is no such key, and in the same time wherever they differ. */
function verifyApiKey(key: string, stored: StoredApiKey | undefined, scopes: readonly string[]): AuthResult {
  const given = hash("sha256", key, "buffer");
  const kept = stored ? parseKeyHash(stored) : given;
  if (!timingSafeEqual(given, kept) || !stored) return "invalid";
  return authorizeScopes(toCaller(toCallerIdentity(stored)), scopes);
}

function toCallerIdentity({ principal, tenant, scopes }: StoredApiKey): CallerIdentity {
  return { principal, ...(tenant === undefined ? {} : { tenant }), ...(scopes ? { scopes } : {}) };
}

/** The digest of a key that is kept. */
function parseKeyHash({ id, hash: text }: StoredApiKey): Buffer {
  const digest = Buffer.from(/^sha256:([\w-]{43})$/.exec(text)?.[1] ?? "", "base64url");
  if (digest.length === 32 && /^[0-9a-f]+$/.test(id)) return digest;
  throw new Error(`The API key ${JSON.stringify(id)} is not kept as newApiKey made it; make a new one.`);
}

/** "" for what is no key of ours. */
function parseApiKeyId(key: string): string {
  return /^clq_([0-9a-f]{12})_[\w-]{43}$/.exec(key)?.[1] ?? "";
}

const API_KEY_READERS: Record<
  ApiKeyOptions["in"],
  (credentials: AuthRequest, name: string) => string | undefined
> = {
  header: ({ header }, name) => header(name.toLowerCase()),
  query: ({ query }, name) => getSingleValue(new URLSearchParams(query).getAll(name)),
  cookie: ({ header }, name) => {
    const pairs = (header("cookie") ?? "").split(";").map((pair) => pair.trim());
    return getSingleValue(
      pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1)),
    );
  },
};

/** Two keys are none that is good: which of them another server on the way has looked at, nobody knows. */
function getSingleValue(values: readonly string[]): string | undefined {
  return values.length > 1 ? "" : values[0];
}
