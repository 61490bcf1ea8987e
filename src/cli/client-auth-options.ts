import type { ClientAuthOptions } from "../client/index.ts";
import type { ClientOptions } from "./client-options.ts";
import { createUsageError } from "./cli-error.ts";

/**
 * Builds the client's authentication options from the command-line options. The agent card determines where
 * each credential is sent (A2A §4.5). Error messages about invalid options never contain credentials.
 */
export function toClientAuthOptions(options: ClientOptions): ClientAuthOptions | undefined {
  const { bearer, apiKey, basic, oauthClient, oauthIssuer, clientCert } = options;
  const auth: { -readonly [K in keyof ClientAuthOptions]: ClientAuthOptions[K] } = {};
  if (bearer !== undefined) auth.bearer = bearer;
  if (apiKey !== undefined) auth.apiKey = apiKey;
  if (basic !== undefined) {
    const [username, password] = splitAtColon("--basic", basic);
    auth.basic = { username, password };
  }
  if (oauthClient !== undefined) {
    const { id, secret } = parseOAuthClient(oauthClient);
    // A client without a secret only logs in users.
    if (secret !== undefined)
      auth.oauthClient = oauthIssuer === undefined ? { id, secret } : { id, secret, issuer: oauthIssuer };
  }
  if (clientCert !== undefined) auth.mutualTls = true;
  return Object.keys(auth).length > 0 ? auth : undefined;
}

/** Parses the id of an OAuth client, with or without a secret. */
export function parseOAuthClient(text: string): { readonly id: string; readonly secret?: string } {
  if (!text.includes(":")) return { id: text };
  const [id, secret] = splitAtColon("--oauth-client", text);
  return { id, secret };
}

/**
 * Splits a credential such as `user:password` at the first colon. Commander's option parsers must not parse
 * credentials, because Commander's error messages repeat the value.
 */
function splitAtColon(option: string, text: string): [name: string, secret: string] {
  const colon = text.indexOf(":");
  if (colon > 0) return [text.slice(0, colon), text.slice(colon + 1)];
  throw createUsageError(`${option} must be a name and a secret separated by a colon.`);
}

/**
 * Parses the values of `--svc-param` as HTTP headers. Error messages omit the header value, because the value
 * may be a credential.
 */
export function parseServiceParams(params: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    params.map((param) => {
      const colon = param.indexOf(":");
      if (colon > 0) return [param.slice(0, colon).trim(), param.slice(colon + 1).trim()];
      throw createUsageError("--svc-param must be a name and a value separated by a colon.");
    }),
  );
}
