import type { ClientAuthOptions } from "../client/index.ts";
import type { ClientOptions } from "./client-options.ts";
import { createUsageError } from "./cli-error.ts";

/**
 * What the options say about who is asking. Where it goes is up to the agent's card (A2A §4.5); none of it appears in
 * anything that is printed.
 */
export function toClientAuthOptions(options: ClientOptions): ClientAuthOptions | undefined {
  const { bearer, apiKey, basic, oauthClient, oauthIssuer: issuer } = options;
  const auth: { -readonly [K in keyof ClientAuthOptions]: ClientAuthOptions[K] } = {};
  if (bearer !== undefined) auth.bearer = bearer;
  if (apiKey !== undefined) auth.apiKey = apiKey;
  if (basic !== undefined) {
    const [username, password] = splitAtColon("--basic", basic);
    auth.basic = { username, password };
  }
  if (oauthClient !== undefined) {
    const [id, secret] = splitAtColon("--oauth-client", oauthClient);
    auth.oauthClient = issuer === undefined ? { id, secret } : { id, secret, issuer };
  }
  return Object.keys(auth).length > 0 ? auth : undefined;
}

/** Not read by the parser of options: that one shows what it cannot read. */
function splitAtColon(option: string, text: string): [name: string, secret: string] {
  const at = text.indexOf(":");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw createUsageError(`${option} is a name and a secret with a colon between them.`);
}

/** Headers of `--svc-param`; not shown when they can not be read, for the same reason. */
export function parseServiceParams(params: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    params.map((param) => {
      const at = param.indexOf(":");
      if (at > 0) return [param.slice(0, at).trim(), param.slice(at + 1).trim()];
      throw createUsageError("--svc-param is a name and a value with a colon between them.");
    }),
  );
}
