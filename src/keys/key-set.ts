import {
  createLocalJWKSet,
  errors,
  type CryptoKey,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWK,
  type JWSHeaderParameters,
} from "jose";
import { discoverIssuer, discoveryUrl } from "./discover.ts";
import { fetchJson, keyUrl, type FetchKeysOptions } from "./fetch-json.ts";

/** Finds the public key that a signature's header asks for. */
export type KeySet = (header?: JWSHeaderParameters, signed?: FlattenedJWSInput) => Promise<CryptoKey>;

/** How long fetched keys are used without asking again. */
const FRESH_MS = 600_000;
/** How long they are used while their place does not answer: it may be down, or have something to take back. */
const STALE_MS = 3_600_000;
/** How often, at most, keys are asked for: strangers choose the `kid` that makes us ask. */
const PAUSE_MS = 30_000;
/** After a failure sooner, and no request waits for a place that does not answer. */
const PAUSE_AFTER_FAILURE_MS = 5000;

/** Keys that are at hand. Secret ones are refused: a verifier has no use for them. */
export function givenKeys(
  keys: JSONWebKeySet | readonly JWK[],
  { now = Date.now }: FetchKeysOptions = {},
): KeySet {
  const set = isSet(keys) ? keys : { keys: [...keys] };
  const secret = set.keys.find(({ kty, d, priv }) => kty === "oct" || d !== undefined || priv !== undefined);
  if (secret) {
    throw new Error(`The key ${JSON.stringify(secret.kid ?? "")} is not public; give only public keys.`);
  }
  return current(set, now);
}

/** The keys of a set as long as they are valid, where they say so (`nbf`, `exp`: seconds since 1970, as in JWT). */
function current(set: JSONWebKeySet, now: () => number): KeySet {
  if (!set.keys.some((key) => "exp" in key || "nbf" in key)) return createLocalJWKSet(set);
  return (header, signed) => {
    const keys = set.keys.filter((key) => isCurrent(key, now() / 1000));
    return createLocalJWKSet({ keys })(header, signed);
  };
}

/** A time that is no number compares with none, so such a key is never valid. */
function isCurrent({ exp, nbf }: JWK & { exp?: unknown; nbf?: unknown }, seconds: number): boolean {
  return seconds < Number(exp ?? Infinity) && seconds >= Number(nbf ?? -Infinity);
}

function isSet(keys: JSONWebKeySet | readonly JWK[]): keys is JSONWebKeySet {
  return !Array.isArray(keys);
}

/** The keys at a JWKS URL, fetched when first needed and again for a `kid` that is not among them (rotation). */
export function remoteKeys(jwksUrl: string | URL, options: FetchKeysOptions = {}): KeySet {
  const url = keyUrl("The JWKS URL", jwksUrl);
  return kept(() => fetchKeys(url, options), options);
}

/** The keys of an OpenID issuer, found by its metadata. */
export function issuerKeys(issuer: string, options: FetchKeysOptions = {}): KeySet {
  discoveryUrl(issuer);
  const load = async (): Promise<JSONWebKeySet> =>
    fetchKeys(new URL((await discoverIssuer(issuer, options)).jwks_uri), options);
  return kept(load, options);
}

async function fetchKeys(url: URL, options: FetchKeysOptions): Promise<JSONWebKeySet> {
  const json = await fetchJson(url, options);
  const keys = Array.isArray(json["keys"]) ? (json["keys"] as JWK[]) : [];
  // One that is not understood, or that can not be public, is no reason to refuse the others.
  return { keys: keys.filter((key) => typeof key === "object" && key !== null && key.kty !== "oct") };
}

/** Keeps loaded keys while they are fresh, and while their place does not answer. */
function kept(load: () => Promise<JSONWebKeySet>, { now = Date.now }: FetchKeysOptions): KeySet {
  let keys: KeySet | undefined;
  let failure: unknown;
  let loadedAt = -Infinity;
  let nextAt = -Infinity;
  let loading: Promise<void> | undefined;

  const reload = async (): Promise<void> => {
    try {
      keys = current(await load(), now);
      loadedAt = now();
      nextAt = loadedAt + PAUSE_MS;
    } catch (error) {
      failure = error;
      nextAt = now() + PAUSE_AFTER_FAILURE_MS;
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
    if (now() - loadedAt >= FRESH_MS) await refresh();
    if (!keys || now() - loadedAt >= STALE_MS) throw failure;
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
