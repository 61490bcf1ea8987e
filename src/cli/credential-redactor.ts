/** Command-line options whose values are credentials. Values of `--svc-param` may also be credentials. */
export const CREDENTIAL_OPTIONS = ["bearer", "apiKey", "basic", "oauthClient"] as const;

const REDACTED_VALUE = "***";

/** Function that removes a command's credentials from a text. */
export type Redactor = (text: string) => string;

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

/**
 * Creates a redactor for all credentials among the command-line options. An agent may return a credential in
 * any field and encoding, so the redactor searches for all encoded forms.
 */
export function createRedactor(options: SecretOptionValues): Redactor {
  const { bearer, apiKey, basic, oauthClient, svcParam = [], token, credentials } = options;
  const secrets = [
    bearer,
    apiKey,
    token,
    credentials,
    basic,
    getSecretAfterColon(basic),
    oauthClient,
    getSecretAfterColon(oauthClient),
    encodeFormValue(oauthClient).replace("%3A", ":"),
    ...svcParam.map((param) => getSecretAfterColon(param).trim()),
  ].filter((secret): secret is string => secret !== undefined && secret !== "");
  const shapes = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    encodeFormValue(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString("base64"),
  ]);
  // Replaces longer secrets first, so that a shorter secret inside a longer one leaves no remainder.
  const unique = [...new Set(shapes)].toSorted((a, b) => b.length - a.length);
  return (text) =>
    unique
      .reduce((clean, secret) => clean.replaceAll(secret, REDACTED_VALUE), text)
      .replaceAll(TOKEN_FIELD_PATTERN, `$1"${REDACTED_VALUE}"`);
}

/** Pattern for the JSON members that contain tokens in the response of a token server. */
const TOKEN_FIELD_PATTERN = /("(?:access|refresh|id)_token"\s*:\s*)"[^"]*"/g;

/** Encodes a text for form data and URL queries, which escape more characters than `encodeURIComponent`. */
function encodeFormValue(text = ""): string {
  return new URLSearchParams({ a: text }).toString().slice(2);
}

function getSecretAfterColon(text = ""): string {
  return text.slice(text.indexOf(":") + 1);
}

/**
 * Returns headers for logging. The result contains all header names, but only the values of known protocol
 * headers.
 */
export function redactHeaders(headers: Iterable<readonly [string, string]>): string[] {
  return [...headers].map(
    ([name, value]) => `${name}: ${UNREDACTED_HEADERS.has(name.toLowerCase()) ? value : REDACTED_VALUE}`,
  );
}

const UNREDACTED_HEADERS = new Set([
  "a2a-version",
  "a2a-extensions",
  "x-a2a-extensions",
  "accept",
  "content-type",
  "last-event-id",
]);
