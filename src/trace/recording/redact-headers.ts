/** Names of headers whose values are secrets. */
const SECRET_HEADER_NAME = /auth|cookie|token|secret|key|password|credential/i;

/** Returns a copy of HTTP headers with `***` instead of credentials, cookies, tokens, and keys. */
export function redactSecretHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, SECRET_HEADER_NAME.test(name) ? "***" : value]),
  );
}
