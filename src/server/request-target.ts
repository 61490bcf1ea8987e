/** The parts of a request target, which is the second word of an HTTP/1.1 request line (RFC 9112 §3.2). */
export interface RequestTarget {
  /** Host and port of a target in absolute form. A target in another form has no authority. */
  readonly authority: string | undefined;
  /** Percent-encoded URL path, or `*` for a target in asterisk form. */
  readonly path: string;
  /** URL query without the question mark, or an empty string. */
  readonly query: string;
}

/**
 * Parses a request target in origin form (`/path?query`), absolute form (`http://host/path?query`), or asterisk
 * form (`*`). The function does not check the authority, because `parseHostAndPort` checks it like a Host header.
 */
export function parseRequestTarget(target: string): RequestTarget {
  if (target.startsWith("/")) return splitQuery(undefined, target);
  const [, authority, rest = ""] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(target) ?? [];
  if (authority === undefined) return splitQuery(undefined, target);
  return splitQuery(authority, rest.startsWith("/") ? rest : `/${rest}`);
}

function splitQuery(authority: string | undefined, text: string): RequestTarget {
  const mark = text.indexOf("?");
  return mark < 0
    ? { authority, path: text, query: "" }
    : { authority, path: text.slice(0, mark), query: text.slice(mark + 1) };
}
