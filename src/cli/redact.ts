/** The options whose values are credentials; those of `--svc-param` may be. */
export const CREDENTIALS = ["bearer", "apiKey", "basic", "oauthClient"] as const;

const HIDDEN = "***";

/** Makes what is printed for people free of the credentials of a call, wherever in a text they stand. */
export type Redact = (text: string) => string;

interface Secrets {
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
export function redacting(all: Secrets): Redact {
  const { bearer, apiKey, basic, oauthClient, svcParam = [], token, credentials } = all;
  const secrets = [
    bearer,
    apiKey,
    token,
    credentials,
    basic,
    afterColon(basic),
    oauthClient,
    afterColon(oauthClient),
    formEncoded(oauthClient).replace("%3A", ":"),
    ...svcParam.map((param) => afterColon(param).trim()),
  ].filter((secret): secret is string => secret !== undefined && secret !== "");
  const shapes = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    formEncoded(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString("base64"),
  ]);
  // The longest first, so that none is left in part because a shorter one was in it.
  const unique = [...new Set(shapes)].toSorted((a, b) => b.length - a.length);
  return (text) =>
    unique
      .reduce((clean, secret) => clean.replaceAll(secret, HIDDEN), text)
      .replaceAll(TOKENS, `$1"${HIDDEN}"`);
}

/** What a token server answers with. */
const TOKENS = /("(?:access|refresh|id)_token"\s*:\s*)"[^"]*"/g;

/** As forms and the queries of URLs have it, which encode more than `encodeURIComponent` does. */
function formEncoded(text = ""): string {
  return new URLSearchParams({ a: text }).toString().slice(2);
}

function afterColon(text = ""): string {
  return text.slice(text.indexOf(":") + 1);
}

/** The headers of a request as they may be shown: their names, and the values of those that are the protocol's own. */
export function shownHeaders(headers: Iterable<readonly [string, string]>): string[] {
  return [...headers].map(([name, value]) => `${name}: ${OPEN.has(name.toLowerCase()) ? value : HIDDEN}`);
}

const OPEN = new Set([
  "a2a-version",
  "a2a-extensions",
  "x-a2a-extensions",
  "accept",
  "content-type",
  "last-event-id",
]);
