/**
 * Returns the delay in milliseconds that a `Retry-After` header requests, starting at the time `now` (RFC 9110 §10.2.3).
 * The header contains a number of seconds or a date. Some model servers send fractions of seconds. Returns `undefined` if
 * the header is missing or invalid, or if its date is in the past.
 */
export function parseRetryAfter(header: string | null | undefined, now: number): number | undefined {
  if (header === null || header === undefined) return undefined;
  const ms = /^\d{1,9}(\.\d+)?$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - now;
  return ms >= 0 ? ms : undefined;
}

/**
 * Returns the delay in milliseconds that the response of a model server requests, with the header `retry-after-ms` of
 * OpenAI and Azure or with `Retry-After`.
 */
export function parseModelRetryDelay(
  header: (name: string) => string | null | undefined,
  now: number,
): number | undefined {
  const ms = Number(header("retry-after-ms") ?? Number.NaN);
  return ms >= 0 ? ms : parseRetryAfter(header("retry-after"), now);
}
