import {
  createLocalJWKSet,
  errors,
  type CryptoKey,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWK,
  type JWSHeaderParameters,
} from "jose";
import { discoverIssuer, buildDiscoveryUrl } from "./issuer-discovery.ts";
import { fetchJson, requireSecureUrl, type FetchKeysOptions } from "./fetch-json.ts";

/** Returns the public key that the header of a signature requires. */
export type KeyResolver = (header?: JWSHeaderParameters, signed?: FlattenedJWSInput) => Promise<CryptoKey>;

/** Time in milliseconds for which fetched keys are used without a new request. */
const KEYS_FRESH_MS = 600_000;
/**
 * Maximum time in milliseconds for which fetched keys are used while their source is unavailable. Using keys
 * for longer could accept a revoked key.
 */
const MAX_STALE_MS = 3_600_000;
/**
 * Minimum time in milliseconds between requests for keys. Unauthenticated clients choose the `kid` that
 * causes a request.
 */
const MIN_REFETCH_INTERVAL_MS = 30_000;
/**
 * Time in milliseconds before the next request after a failure. In the meantime, verifications fail or use
 * cached keys.
 */
const RETRY_DELAY_MS = 5000;

/**
 * Returns a resolver for a fixed set of public keys. Throws for a private or symmetric key, which a verifier
 * must not have.
 */
export function createStaticKeyResolver(
  keys: JSONWebKeySet | readonly JWK[],
  { now = Date.now }: FetchKeysOptions = {},
): KeyResolver {
  const set = isJsonWebKeySet(keys) ? keys : { keys: [...keys] };
  const secret = set.keys.find(({ kty, d, priv }) => kty === "oct" || d !== undefined || priv !== undefined);
  if (secret) {
    throw new Error(`The key ${JSON.stringify(secret.kid ?? "")} is not a public key; use only public keys.`);
  }
  return createValidKeyResolver(set, now);
}

/**
 * Returns a resolver for the keys that are valid now. A key can limit its validity with `nbf` and `exp`, as
 * in a JWT.
 */
function createValidKeyResolver(set: JSONWebKeySet, now: () => number): KeyResolver {
  if (!set.keys.some((key) => "exp" in key || "nbf" in key)) return createLocalJWKSet(set);
  return (header, signed) => {
    const keys = set.keys.filter((key) => isKeyValidAt(key, now() / 1000));
    return createLocalJWKSet({ keys })(header, signed);
  };
}

/**
 * Returns true if a key is valid at a time. A comparison with an invalid time is false, so a key with an
 * invalid time is never valid.
 */
function isKeyValidAt({ exp, nbf }: JWK & { exp?: unknown; nbf?: unknown }, seconds: number): boolean {
  return seconds < Number(exp ?? Infinity) && seconds >= Number(nbf ?? -Infinity);
}

function isJsonWebKeySet(keys: JSONWebKeySet | readonly JWK[]): keys is JSONWebKeySet {
  return !Array.isArray(keys);
}

/**
 * Returns a resolver for the keys at a JWKS URL. The resolver fetches the keys at first use, and again for an
 * unknown `kid`, which supports key rotation.
 */
export function createJwksKeyResolver(jwksUrl: string | URL, options: FetchKeysOptions = {}): KeyResolver {
  const url = requireSecureUrl("The JWKS URL", jwksUrl);
  return createCachedKeyResolver(() => fetchJwks(url, options), options);
}

/** Returns a resolver for the keys of an OpenID issuer, whose metadata contains the URL of the keys. */
export function createIssuerKeyResolver(issuer: string, options: FetchKeysOptions = {}): KeyResolver {
  buildDiscoveryUrl(issuer);
  const load = async (): Promise<JSONWebKeySet> =>
    fetchJwks(new URL((await discoverIssuer(issuer, options)).jwks_uri), options);
  return createCachedKeyResolver(load, options);
}

async function fetchJwks(url: URL, options: FetchKeysOptions): Promise<JSONWebKeySet> {
  const json = await fetchJson(url, options);
  const keys = Array.isArray(json["keys"]) ? (json["keys"] as JWK[]) : [];
  // Invalid and symmetric keys are ignored, so that the other keys remain usable.
  return { keys: keys.filter((key) => typeof key === "object" && key !== null && key.kty !== "oct") };
}

/**
 * Returns a resolver that caches loaded keys, and uses stale keys for a limited time while their source is
 * unavailable.
 */
function createCachedKeyResolver(
  load: () => Promise<JSONWebKeySet>,
  { now = Date.now }: FetchKeysOptions,
): KeyResolver {
  let keys: KeyResolver | undefined;
  let failure: unknown;
  let loadedAt = -Infinity;
  let nextAt = -Infinity;
  let loading: Promise<void> | undefined;

  const reload = async (): Promise<void> => {
    try {
      keys = createValidKeyResolver(await load(), now);
      loadedAt = now();
      nextAt = loadedAt + MIN_REFETCH_INTERVAL_MS;
    } catch (error) {
      failure = error;
      nextAt = now() + RETRY_DELAY_MS;
    } finally {
      loading = undefined;
    }
  };
  /** Reloads the keys with at most one concurrent request, and not before the minimum interval has passed. */
  const refresh = async (): Promise<void> => {
    if (loading === undefined && now() < nextAt) return;
    await (loading ??= reload());
  };

  return async (header, signed) => {
    if (now() - loadedAt >= KEYS_FRESH_MS) await refresh();
    if (!keys || now() - loadedAt >= MAX_STALE_MS) throw failure;
    try {
      return await keys(header, signed);
    } catch (error) {
      const previousKeys = keys;
      if (error instanceof errors.JWKSNoMatchingKey) await refresh();
      if (keys === previousKeys) throw error;
      return await keys(header, signed);
    }
  };
}
