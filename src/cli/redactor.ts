/** The options whose values are credentials; those of `--svc-param` may be. */
export const CREDENTIAL_OPTIONS = ["bearer", "apiKey", "basic", "oauthClient"] as const;

const REDACTED_VALUE = "***";

/** Makes what is printed for people free of the credentials of a call, wherever in a text they stand. */
export type Redactor = (text: string) => string;

interface SecretOptions {
  readonly bearer?: string;
  readonly apiKey?: string;
  readonly basic?: string;
  readonly oauthClient?: string;
  readonly svcParam?: readonly string[];
  /** Of a webhook. */
  readonly token?: string;
  readonly credentials?: string;
}

/**
 * Not by the name of a field alone: an agent may repeat what it was sent, and a credential stays one in every encoding
 * in which it travels.
 */
export function createRedactor(all: SecretOptions): Redactor {
  const { bearer, apiKey, basic, oauthClient, svcParam = [], token, credentials } = all;
  const secrets = [
    bearer,
    apiKey,
    token,
    credentials,
    basic,
    getTextAfterColon(basic),
    oauthClient,
    getTextAfterColon(oauthClient),
    encodeForm(oauthClient).replace("%3A", ":"),
    ...svcParam.map((param) => getTextAfterColon(param).trim()),
  ].filter((secret): secret is string => secret !== undefined && secret !== "");
  const shapes = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    encodeForm(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString("base64"),
  ]);
  // The longest first, so that none is left in part because a shorter one was in it.
  const unique = [...new Set(shapes)].toSorted((a, b) => b.length - a.length);
  return (text) =>
    unique
      .reduce((clean, secret) => clean.replaceAll(secret, REDACTED_VALUE), text)
      .replaceAll(TOKEN_FIELD_PATTERN, `$1"${REDACTED_VALUE}"`);
}

/** What a token server answers with. */
const TOKEN_FIELD_PATTERN = /("(?:access|refresh|id)_token"\s*:\s*)"[^"]*"/g;

/** As forms and the queries of URLs have it, which encode more than `encodeURIComponent` does. */
function encodeForm(text = ""): string {
  return new URLSearchParams({ a: text }).toString().slice(2);
}

function getTextAfterColon(text = ""): string {
  return text.slice(text.indexOf(":") + 1);
}

/** The headers of a request as they may be shown: their names, and the values of those that are the protocol's own. */
export function redactHeaders(headers: Iterable<readonly [string, string]>): string[] {
  return [...headers].map(
    ([name, value]) => `${name}: ${SAFE_HEADERS.has(name.toLowerCase()) ? value : REDACTED_VALUE}`,
  );
}

const SAFE_HEADERS = new Set([
  "a2a-version",
  "a2a-extensions",
  "x-a2a-extensions",
  "accept",
  "content-type",
  "last-event-id",
]);
