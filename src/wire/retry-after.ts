/**
 * Returns the delay in milliseconds that a `Retry-After` header asks for, counted from `now` (RFC 9110 §10.2.3). The
 * header holds a number of seconds or a date. Returns `undefined` for a missing or invalid header and for a past date.
 */
export function parseRetryAfter(header: string | null | undefined, now: number): number | undefined {
  if (header === null || header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - now;
  return ms >= 0 ? ms : undefined;
}
