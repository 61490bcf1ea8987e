import { fetchJson, keyUrl, toKeyUrl, type FetchKeysOptions } from "./fetch-json.ts";
import { KeysUnavailable } from "./not-verified.ts";

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
  const found = await fetchJson(discoveryUrl(issuer), options);
  const { issuer: named, jwks_uri: keys } = found;
  if (named !== issuer) throw unusable(issuer, `is about ${JSON.stringify(named)}`);
  const url = toKeyUrl(keys);
  if (!url) throw unusable(issuer, "names no jwks_uri with https");
  return { ...found, issuer, jwks_uri: url.href };
}

/** Where an issuer's metadata stands. */
export function discoveryUrl(issuer: string): URL {
  const { href } = keyUrl("The issuer", issuer);
  return new URL(`${href.replace(/\/+$/, "")}/.well-known/openid-configuration`);
}

function unusable(issuer: string, why: string): KeysUnavailable {
  return new KeysUnavailable(`The metadata of ${issuer} ${why}.`);
}
