export const REDACTED_VALUE = "***";
/** Names of environment variables whose values are secrets. */
const SECRET_VARIABLE_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i;
/** Shorter values are not redacted, because they also occur in texts without secrets. */
const MIN_SECRET_LENGTH = 8;

/** Patterns of secrets, each with a replacement that keeps the text around the secret. */
const SECRET_PATTERNS: readonly (readonly [
  pattern: RegExp,
  replacement: string | ((match: string) => string),
])[] = [
  [/\b(Bearer|Basic)\s+(?=\S*\d|\S{20})[\w.~+/=-]{8,}/gi, `$1 ${REDACTED_VALUE}`],
  [/\beyJ[\w-]{5,}(?:\.[\w-]*)*/g, redactJwt],
  [/\b(?:sk-|AIza|gh[pousr]_|xox[abp]-|AKIA)[\w-]{8,}/g, REDACTED_VALUE],
  [/(:\/\/)[^\s/@:]*:[^\s/@]+@/g, `$1${REDACTED_VALUE}@`],
  [
    /((?:password|passwd|secret|token|api[-_]?key|authorization)["']?\s*[:=]\s*)(?!(?:Bearer|Basic)\s)("[^"]*"|'[^']*'|[^\s,;&}"']+)/gi,
    `$1${REDACTED_VALUE}`,
  ],
];

/**
 * Replaces secrets in a text for the log with `***`. The function recognizes the values of environment
 * variables such as `OPENAI_API_KEY`, and common forms of tokens, keys, and passwords.
 */
export function redactSecrets(
  text: string,
  env: Readonly<Record<string, string | undefined>> = readEnvironment(),
): string {
  const withoutValues = listSecretEnvironmentValues(env).reduce(
    (clean, value) => clean.replaceAll(value, REDACTED_VALUE),
    text,
  );
  return SECRET_PATTERNS.reduce(
    (clean, [pattern, replacement]) =>
      typeof replacement === "string"
        ? clean.replaceAll(pattern, replacement)
        : clean.replaceAll(pattern, replacement),
    withoutValues,
  );
}

/** Returns the values of environment variables whose names are names of secrets. */
export function listSecretEnvironmentValues(
  env: Readonly<Record<string, string | undefined>> = readEnvironment(),
): string[] {
  return Object.entries(env).flatMap(([name, value = ""]) =>
    SECRET_VARIABLE_NAME.test(name) && value.length >= MIN_SECRET_LENGTH ? value : [],
  );
}

/** Hides the user and the password of a URL, such as the URL of a database. */
export function redactUserInfo(url: string): string {
  return url.replace(/\/\/[^/]*@/, `//${REDACTED_VALUE}@`);
}

/** A JWT has three segments. The pattern also matches texts with fewer segments, to stay linear. */
export function redactJwt(match: string): string {
  return match.split(".", 3).length === 3 ? REDACTED_VALUE : match;
}

/** Returns no variables on runtimes without an environment and without permission to read it. */
function readEnvironment(): Readonly<Record<string, string | undefined>> {
  try {
    return { ...process.env };
  } catch {
    return {};
  }
}
