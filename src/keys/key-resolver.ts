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

/** Finds the public key that a signature's header asks for. */
export type KeyResolver = (header?: JWSHeaderParameters, signed?: FlattenedJWSInput) => Promise<CryptoKey>;

/** How long fetched keys are used without asking again. */
const KEYS_FRESH_MS = 600_000;
/** How long they are used while their place does not answer: it may be down, or have something to take back. */
const MAX_STALE_MS = 3_600_000;
/** How often, at most, keys are asked for: strangers choose the `kid` that makes us ask. */
const MIN_REFETCH_INTERVAL_MS = 30_000;
/** After a failure sooner, and no request waits for a place that does not answer. */
const RETRY_DELAY_MS = 5000;

/** Keys that are at hand. Secret ones are refused: a verifier has no use for them. */
export function createStaticKeyResolver(
  keys: JSONWebKeySet | readonly JWK[],
  { now = Date.now }: FetchKeysOptions = {},
): KeyResolver {
  const set = isJsonWebKeySet(keys) ? keys : { keys: [...keys] };
  const secret = set.keys.find(({ kty, d, priv }) => kty === "oct" || d !== undefined || priv !== undefined);
  if (secret) {
    throw new Error(`The key ${JSON.stringify(secret.kid ?? "")} is not public; give only public keys.`);
  }
  return createValidKeyResolver(set, now);
}

/** The keys of a set as long as they are valid, where they say so (`nbf`, `exp`: seconds since 1970, as in JWT). */
function createValidKeyResolver(set: JSONWebKeySet, now: () => number): KeyResolver {
  if (!set.keys.some((key) => "exp" in key || "nbf" in key)) return createLocalJWKSet(set);
  return (header, signed) => {
    const keys = set.keys.filter((key) => isKeyValidAt(key, now() / 1000));
    return createLocalJWKSet({ keys })(header, signed);
  };
}

/** A time that is no number compares with none, so such a key is never valid. */
function isKeyValidAt({ exp, nbf }: JWK & { exp?: unknown; nbf?: unknown }, seconds: number): boolean {
  return seconds < Number(exp ?? Infinity) && seconds >= Number(nbf ?? -Infinity);
}

function isJsonWebKeySet(keys: JSONWebKeySet | readonly JWK[]): keys is JSONWebKeySet {
  return !Array.isArray(keys);
}

/** The keys at a JWKS URL, fetched when first needed and again for a `kid` that is not among them (rotation). */
export function createJwksKeyResolver(jwksUrl: string | URL, options: FetchKeysOptions = {}): KeyResolver {
  const url = requireSecureUrl("The JWKS URL", jwksUrl);
  return createCachedKeyResolver(() => fetchJwks(url, options), options);
}

/** The keys of an OpenID issuer, found by its metadata. */
export function createIssuerKeyResolver(issuer: string, options: FetchKeysOptions = {}): KeyResolver {
  buildDiscoveryUrl(issuer);
  const load = async (): Promise<JSONWebKeySet> =>
    fetchJwks(new URL((await discoverIssuer(issuer, options)).jwks_uri), options);
  return createCachedKeyResolver(load, options);
}

async function fetchJwks(url: URL, options: FetchKeysOptions): Promise<JSONWebKeySet> {
  const json = await fetchJson(url, options);
  const keys = Array.isArray(json["keys"]) ? (json["keys"] as JWK[]) : [];
  // One that is not understood, or that can not be public, is no reason to refuse the others.
  return { keys: keys.filter((key) => typeof key === "object" && key !== null && key.kty !== "oct") };
}

/** Keeps loaded keys while they are fresh, and while their place does not answer. */
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
  /** One request at a time, and none before its time. */
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
      const known = keys;
      if (error instanceof errors.JWKSNoMatchingKey) await refresh();
      if (keys === known) throw error;
      return await keys(header, signed);
    }
  };
}
