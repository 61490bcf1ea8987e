import { stripTrailingCharacters } from "../protocol/index.ts";
import { fetchJson, requireSecureUrl, parseSecureUrl, type FetchKeysOptions } from "./fetch-json.ts";
import { KeysUnavailableError } from "./verification-error.ts";

/** Metadata of an OpenID provider, with the members that OpenID Connect Discovery 1.0 §3 defines. */
interface IssuerMetadata {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly [member: string]: unknown;
}

/**
 * Returns the metadata of an OpenID issuer. Rejects if the metadata belongs to a different issuer (OpenID
 * Connect Discovery §4.3).
 */
export async function discoverIssuer(
  issuer: string,
  options: FetchKeysOptions = {},
): Promise<IssuerMetadata> {
  const metadata = await fetchJson(buildDiscoveryUrl(issuer), options);
  const { issuer: actualIssuer, jwks_uri } = metadata;
  if (actualIssuer !== issuer)
    throw createIssuerMetadataError(issuer, `names the issuer ${JSON.stringify(actualIssuer)}`);
  const url = parseSecureUrl(jwks_uri);
  if (!url) throw createIssuerMetadataError(issuer, "has no jwks_uri with https");
  return { ...metadata, issuer, jwks_uri: url.href };
}

/** Returns the metadata URL of an OpenID issuer. */
export function buildDiscoveryUrl(issuer: string): URL {
  const { href } = requireSecureUrl("The issuer", issuer);
  return new URL(`${stripTrailingCharacters(href, "/")}/.well-known/openid-configuration`);
}

function createIssuerMetadataError(issuer: string, problem: string): KeysUnavailableError {
  return new KeysUnavailableError(`The metadata of ${issuer} ${problem}.`);
}
