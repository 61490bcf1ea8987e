import { listSecretEnvironmentValues, REDACTED_VALUE, redactJwt } from "./redact-secrets.ts";

/** A cheap test that excludes most texts without secrets. */
const MAY_CONTAIN_SECRET =
  /bearer|basic|eyj|sk-|aiza|gh[pousr]_|xox[abp]-|akia|@|passw|secret|token|api[-_]?key|authorization|cookie|credentials/i;

const SECRET_NAME =
  "[\\w-]*(?:password|passwd|secret|api[-_]?key|authorization|cookie|credentials)|(?:[\\w-]*[-_]|access|refresh|id|auth|bearer|session|client|api)?token";

/** Patterns whose matches never contain a quotation mark of the JSON text, so that the text stays valid. */
const JSON_SECRET_PATTERNS: readonly (readonly [RegExp, string | ((match: string) => string)])[] = [
  [/\b(Bearer|Basic)\s+(?=[\w.~+/=-]*\d|[\w.~+/=-]{20})[\w.~+/=-]{8,}/gi, `$1 ${REDACTED_VALUE}`],
  [/\beyJ[\w-]{5,}(?:\.[\w-]*)*/g, redactJwt],
  [/\b(?:sk-|AIza|gh[pousr]_|xox[abp]-|AKIA)[\w-]{8,}/g, REDACTED_VALUE],
  [/(:\/\/)[^\s/@:"\\]*:[^\s/@"\\]+@/g, `$1${REDACTED_VALUE}@`],
  [
    new RegExp(`"(${SECRET_NAME})"(\\s{0,8}:\\s{0,8})"(?:[^"\\\\]|\\\\.)*"`, "gi"),
    `"$1"$2"${REDACTED_VALUE}"`,
  ],
  // JSON within a JSON string.
  [
    new RegExp(`\\\\"(${SECRET_NAME})\\\\"(\\s{0,8}:\\s{0,8})\\\\"[^"\\\\]*\\\\"`, "gi"),
    `\\"$1\\"$2\\"${REDACTED_VALUE}\\"`,
  ],
  // Query parameters of URLs, and assignments in texts.
  [/((?:password|passwd|secret|token|api[-_]?key)=)[^\s,;&"'\\]+/gi, `$1${REDACTED_VALUE}`],
];

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
    for (const [pattern, replacement] of JSON_SECRET_PATTERNS)
      clean =
        typeof replacement === "string"
          ? clean.replaceAll(pattern, replacement)
          : clean.replaceAll(pattern, replacement);
    return clean;
  };
}
