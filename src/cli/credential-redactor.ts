import { createRedactor, type Redactor } from "../observe/logging/index.ts";

/** Command-line options whose values are credentials. Values of `--svc-param` may also be credentials. */
export const CREDENTIAL_OPTIONS = ["bearer", "apiKey", "basic", "oauthClient", "clientKey"] as const;

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

/** Creates a redactor that also knows all credentials among the command-line options, and other secrets. */
export function createOptionsRedactor(
  options: SecretOptionValues,
  secrets: readonly string[] = [],
): Redactor {
  return createRedactor({ secrets: [...listSecretOptionValues(options), ...secrets] });
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
    ...listOAuthClientSecrets(oauthClient),
    ...svcParam.map((param) => getSecretAfterColon(param).trim()),
  ].filter((secret): secret is string => secret !== undefined && secret !== "");
}

/** A client without a secret has only an id, which is no secret. */
function listOAuthClientSecrets(oauthClient = ""): string[] {
  if (!oauthClient.includes(":")) return [];
  // A token server receives the id and the secret in form encoding.
  const encoded = new URLSearchParams({ a: oauthClient }).toString().slice(2).replace("%3A", ":");
  return [oauthClient, getSecretAfterColon(oauthClient), encoded];
}

function getSecretAfterColon(text = ""): string {
  return text.slice(text.indexOf(":") + 1);
}
