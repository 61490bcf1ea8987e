import type { CryptoKey, FlattenedJWSInput, JSONWebKeySet, JWK, JWSHeaderParameters } from "jose";
import {
  discoverIssuer,
  buildDiscoveryUrl,
  fetchJson,
  requireSecureUrl,
  type FetchKeysOptions,
} from "./issuer-discovery.ts";
import { hasJoseCode, loadJose } from "./load-jose.ts";

/** Function that returns the public key for a signature, based on the signature's header. */
export type KeyResolver = (header?: JWSHeaderParameters, signed?: FlattenedJWSInput) => Promise<CryptoKey>;

/** Time in milliseconds before the resolver fetches cached keys again. */
const KEYS_FRESH_MS = 600_000;
/**
 * Maximum time in milliseconds that the resolver uses old keys while the JWKS URL is unavailable. A longer
 * time would increase the risk that revoked keys are accepted.
 */
const MAX_STALE_JWKS_MS = 3_600_000;
/**
 * Minimum time in milliseconds between two requests to a JWKS URL. A token with an unknown `kid` causes a
 * request to the JWKS URL, even if the client is not authenticated.
 */
const MIN_REFETCH_INTERVAL_MS = 30_000;
/**
 * Time in milliseconds between a failed request to a JWKS URL and the next request. After a failed request,
 * verifiers use the cached keys. Without cached keys, verification fails.
 */
const JWKS_FETCH_RETRY_DELAY_MS = 5000;

/**
 * Creates a key resolver for a fixed set of public keys. Throws an error if a key is private or symmetric. A
 * verifier must not have keys that can sign.
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
  return createValidityPeriodCheckingKeyResolver(set, now);
}

/**
 * Creates a key resolver that ignores keys outside their validity period. The validity period starts at the
 * member `nbf` of the key and ends at `exp`, as in a JWT.
 */
function createValidityPeriodCheckingKeyResolver(set: JSONWebKeySet, now: () => number): KeyResolver {
  const hasPeriods = set.keys.some((key) => "exp" in key || "nbf" in key);
  // Keeps the imported keys.
  let resolver: KeyResolver | undefined;
  return async (header, signed) => {
    const { createLocalJWKSet } = await loadJose();
    const keys = set.keys.filter((key) => isKeyValidAt(key, now() / 1000));
    return hasPeriods
      ? createLocalJWKSet({ keys })(header, signed)
      : (resolver ??= createLocalJWKSet(set))(header, signed);
  };
}

/**
 * Every comparison with an invalid time is false. A key with an invalid `exp` or `nbf` is therefore never
 * valid.
 */
function isKeyValidAt({ exp, nbf }: JWK & { exp?: unknown; nbf?: unknown }, seconds: number): boolean {
  return seconds < Number(exp ?? Infinity) && seconds >= Number(nbf ?? -Infinity);
}

function isJsonWebKeySet(keys: JSONWebKeySet | readonly JWK[]): keys is JSONWebKeySet {
  return !Array.isArray(keys);
}

/**
 * Creates a key resolver for the keys at a JWKS URL. The resolver fetches the keys at first use. To support
 * key rotation, the resolver fetches the keys again if a `kid` is unknown.
 */
export function createJwksKeyResolver(jwksUrl: string | URL, options: FetchKeysOptions = {}): KeyResolver {
  const url = requireSecureUrl("The JWKS URL", jwksUrl);
  return createCachedKeyResolver(() => fetchJwks(url, options), options);
}

/** Creates a key resolver for an OpenID issuer, whose metadata contains the JWKS URL. */
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
 * Creates a key resolver with a cache. If the JWKS URL is unavailable, the resolver uses stale keys for a
 * limited time.
 */
function createCachedKeyResolver(load: () => Promise<JSONWebKeySet>, { now }: FetchKeysOptions): KeyResolver {
  // The age of the cache must not depend on changes of the wall clock.
  const monotonicNow = now ?? ((): number => performance.now());
  let keys: KeyResolver | undefined;
  let failure: unknown;
  let loadedAt = -Infinity;
  let nextAt = -Infinity;
  let loading: Promise<void> | undefined;

  const reload = async (): Promise<void> => {
    try {
      keys = createValidityPeriodCheckingKeyResolver(await load(), now ?? Date.now);
      loadedAt = monotonicNow();
      nextAt = loadedAt + MIN_REFETCH_INTERVAL_MS;
    } catch (error) {
      failure = error;
      nextAt = monotonicNow() + JWKS_FETCH_RETRY_DELAY_MS;
    } finally {
      loading = undefined;
    }
  };
  const refresh = async (): Promise<void> => {
    if (loading === undefined && monotonicNow() < nextAt) return;
    await (loading ??= reload());
  };

  return async (header, signed) => {
    if (monotonicNow() - loadedAt >= KEYS_FRESH_MS) await refresh();
    if (!keys || monotonicNow() - loadedAt >= MAX_STALE_JWKS_MS) throw failure;
    try {
      return await keys(header, signed);
    } catch (error) {
      const previousKeys = keys;
      if (hasJoseCode(error, "ERR_JWKS_NO_MATCHING_KEY")) await refresh();
      if (keys === previousKeys) throw error;
      return await keys(header, signed);
    }
  };
}
