/** Headers that concern one connection, and are not forwarded (RFC 9110 §7.6.1). */
const HOP_BY_HOP_HEADERS: ReadonlySet<string> = new Set(
  "connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade http2-settings".split(
    " ",
  ),
);

/** Header names and values in turn, with the case and the order of the message. */
export type RawHeaders = readonly string[];

/** Returns the headers without the headers of `removed` and without the headers of the connection. */
export function selectForwardedHeaders(rawHeaders: RawHeaders, removed: readonly string[] = []): string[] {
  const omitted = new Set([...HOP_BY_HOP_HEADERS, ...removed]);
  const pairs = toHeaderPairs(rawHeaders);
  // The Connection header lists more headers of the connection.
  for (const [name, value] of pairs)
    if (name.toLowerCase() === "connection")
      for (const listed of value.split(",")) omitted.add(listed.trim().toLowerCase());
  return pairs.flatMap(([name, value]) => (omitted.has(name.toLowerCase()) ? [] : [name, value]));
}

/** Returns headers with lower-case names for the record. Values of repeated headers are joined. */
export function toRecordedHeaders(rawHeaders: RawHeaders): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of toHeaderPairs(rawHeaders)) {
    const key = name.toLowerCase();
    headers[key] = Object.hasOwn(headers, key) ? `${headers[key]}, ${value}` : value;
  }
  return headers;
}

function toHeaderPairs(rawHeaders: RawHeaders): (readonly [name: string, value: string])[] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""] as const] : [],
  );
}

/**
 * Replaces the origin of the tap in a header with another origin, for example in the `Origin` of a web page that the
 * agent serves through the tap. `origin` of other pages remains, so that the agent can refuse them.
 */
export function replaceOriginInHeader(
  headers: readonly string[],
  name: string,
  from: string,
  to: string,
): string[] {
  return headers.map((value, index) => {
    const isValue = index % 2 === 1 && headers[index - 1]?.toLowerCase() === name;
    return isValue && (value === from || value.startsWith(`${from}/`))
      ? to + value.slice(from.length)
      : value;
  });
}
