import { fetchJson, requireSecureUrl, parseSecureUrl, type FetchKeysOptions } from "./fetch-json.ts";
import { KeysUnavailableError } from "./verification-error.ts";

/** What an OpenID provider says of itself; members as in OpenID Connect Discovery 1.0 §3. */
export interface IssuerMetadata {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly [member: string]: unknown;
}

/** The metadata of an OpenID issuer, which must be about that issuer and no other (OpenID Connect Discovery §4.3). */
export async function discoverIssuer(
  issuer: string,
  options: FetchKeysOptions = {},
): Promise<IssuerMetadata> {
  const found = await fetchJson(buildDiscoveryUrl(issuer), options);
  const { issuer: named, jwks_uri: keys } = found;
  if (named !== issuer) throw createMetadataError(issuer, `is about ${JSON.stringify(named)}`);
  const url = parseSecureUrl(keys);
  if (!url) throw createMetadataError(issuer, "names no jwks_uri with https");
  return { ...found, issuer, jwks_uri: url.href };
}

/** Where an issuer's metadata stands. */
export function buildDiscoveryUrl(issuer: string): URL {
  const { href } = requireSecureUrl("The issuer", issuer);
  return new URL(`${href.replace(/\/+$/, "")}/.well-known/openid-configuration`);
}

function createMetadataError(issuer: string, why: string): KeysUnavailableError {
  return new KeysUnavailableError(`The metadata of ${issuer} ${why}.`);
}
