import { listSecretEnvironmentValues, REDACTED_VALUE, redactJwt } from "./redact-secrets.ts";

/** A cheap test that excludes most texts without secrets. */
const MAY_CONTAIN_SECRET =
  /bearer|basic|eyj|sk-|aiza|gh[pousr]_|xox[abp]-|akia|@|passw|secret|token|api[-_]?key|authorization|cookie|credentials/i;

/** Names of members whose values are secrets, but not names such as `nextPageToken`. */
const SECRET_MEMBER_NAME =
  /(?:password|passwd|secret|api[-_]?key|authorization|cookie|credentials)$|(?:^|[-_]|access|refresh|id|auth|bearer|session|client|api)token$/i;

/** Patterns whose matches never contain a quotation mark of the JSON text, so that the text stays valid. */
const JSON_SECRET_PATTERNS: readonly (readonly [RegExp, (match: string, ...groups: string[]) => string])[] = [
  [/\b(?:Bearer|Basic) {1,4}[\w.~+/=-]{8,}/gi, redactAuthorizationValue],
  [/\beyJ[\w-]{5,}(?:\.[\w-]*)*/g, redactJwt],
  [/\b(?:sk-|AIza|gh[pousr]_|xox[abp]-|AKIA)[\w-]{8,}/g, () => REDACTED_VALUE],
  [/:\/\/[^\s/@:"\\]{0,256}:[^\s/@"\\]{1,256}@/g, () => `://${REDACTED_VALUE}@`],
  [
    /"([\w-]{1,64})"(\s{0,8}:\s{0,8})"(?:[^"\\]|\\[^])*"?/g,
    (member, name = "", colon = "") =>
      SECRET_MEMBER_NAME.test(name) ? `"${name}"${colon}"${REDACTED_VALUE}"` : member,
  ],
  // JSON within a JSON string.
  [
    /\\"([\w-]{1,64})\\"(\s{0,8}:\s{0,8})\\"[^"\\]*\\"/g,
    (member, name = "", colon = "") =>
      SECRET_MEMBER_NAME.test(name) ? `\\"${name}\\"${colon}\\"${REDACTED_VALUE}\\"` : member,
  ],
  // Query parameters of URLs, and assignments in texts.
  [
    /((?:password|passwd|secret|token|api[-_]?key)=)[^\s,;&"'\\]+/gi,
    (_, name = "") => `${name}${REDACTED_VALUE}`,
  ],
];

/** Text such as `Basic information` is no credential: a credential contains a digit or is long. */
function redactAuthorizationValue(match: string): string {
  const [scheme = "", value = ""] = match.split(/ +/);
  return /\d/.test(value) || value.length >= 20 ? `${scheme} ${REDACTED_VALUE}` : match;
}

/**
 * Creates a function that replaces secrets in JSON text with `***`, and keeps the text valid JSON. The function
 * recognizes the values of environment variables such as `OPENAI_API_KEY`, members such as `token` and `password`,
 * and common forms of tokens and keys. The environment is read once.
 */
export function createJsonSecretRedactor(
  env?: Readonly<Record<string, string | undefined>>,
): (jsonText: string) => string {
  const values = listSecretEnvironmentValues(env).map((value) => JSON.stringify(value).slice(1, -1));
  return (jsonText) => {
    let clean = jsonText;
    for (const value of values) if (clean.includes(value)) clean = clean.replaceAll(value, REDACTED_VALUE);
    if (!MAY_CONTAIN_SECRET.test(clean)) return clean;
    for (const [pattern, redact] of JSON_SECRET_PATTERNS) clean = clean.replaceAll(pattern, redact);
    return clean;
  };
}
