import { createRedactor, type Redactor } from "../observe/logging/index.ts";

/** Command-line options whose values are credentials. Values of `--svc-param` may also be credentials. */
export const CREDENTIAL_OPTIONS = ["bearer", "apiKey", "basic", "oauthClient"] as const;

interface SecretOptionValues {
  readonly bearer?: string;
  readonly apiKey?: string;
  readonly basic?: string;
  readonly oauthClient?: string;
  readonly svcParam?: readonly string[];
  /** Credential that an agent sends with each webhook notification. */
  readonly token?: string;
  readonly credentials?: string;
}

/** Creates a redactor that also knows all credentials among the command-line options. */
export function createOptionsRedactor(options: SecretOptionValues): Redactor {
  return createRedactor({ secrets: listSecretOptionValues(options) });
}

/** Returns all credentials among the command-line options. */
export function listSecretOptionValues(options: SecretOptionValues): string[] {
  const { bearer, apiKey, basic, oauthClient, svcParam = [], token, credentials } = options;
  return [
    bearer,
    apiKey,
    token,
    credentials,
    basic,
    getSecretAfterColon(basic),
    oauthClient,
    getSecretAfterColon(oauthClient),
    // A token server receives the id and the secret in form encoding.
    new URLSearchParams({ a: oauthClient ?? "" }).toString().slice(2).replace("%3A", ":"),
    ...svcParam.map((param) => getSecretAfterColon(param).trim()),
  ].filter((secret): secret is string => secret !== undefined && secret !== "");
}

function getSecretAfterColon(text = ""): string {
  return text.slice(text.indexOf(":") + 1);
}
