/**
 * Pattern of the W3C `traceparent` header, which has the form `00-<trace id>-<span id>-<flags>`.
 * https://www.w3.org/TR/trace-context/#traceparent-header
 */
const TRACEPARENT_PATTERN = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * Returns the W3C `traceparent` of a new child span of `parent`. If `parent` is missing or invalid, the span
 * starts a new trace.
 */
export function createChildTraceparent(
  parent?: string,
  random: (bytes: number) => string = createRandomHex,
): string {
  const [, trace, , flags = "01"] = isTraceparent(parent) ? (TRACEPARENT_PATTERN.exec(parent) ?? []) : [];
  return `00-${trace ?? random(16)}-${random(8)}-${flags}`;
}

/**
 * Returns whether a value is a valid W3C `traceparent`. The W3C specification forbids trace IDs and span IDs
 * that consist of zeros only.
 */
export function isTraceparent(value: unknown): value is string {
  const [, trace, span] = (typeof value === "string" && TRACEPARENT_PATTERN.exec(value)) || [];
  return trace !== undefined && span !== undefined && !/^0+$/.test(trace) && !/^0+$/.test(span);
}

function createRandomHex(bytes: number): string {
  return [...crypto.getRandomValues(new Uint8Array(bytes))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
