/** Host and port of a Host header or of a request target in absolute form. */
interface HostAndPort {
  /** Host name in lower case without a trailing dot, or IP address. IPv6 addresses have brackets. */
  readonly hostname: string;
  /** Port as text, or an empty string. */
  readonly port: string;
}

/** Maximum length of a host name in DNS, plus a trailing dot and a port. */
const MAX_LENGTH = 253 + 1 + ":65535".length;

/**
 * Parses `host[:port]` as RFC 9110 §7.2 requires, or returns `undefined`. The parser accepts only host names of
 * letters, digits, hyphens, and underscores, and IP addresses. In contrast to `URL`, the parser rejects user
 * information (`evil@localhost`), paths, percent-encoding, and numbers that a URL would convert to an address.
 */
export function parseHostAndPort(text: string): HostAndPort | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const [, address, name = "", port = ""] =
    /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (Number(port) > 65_535) return undefined;
  if (address !== undefined) {
    const hostname = URL.parse(`http://[${address}]`)?.hostname;
    return hostname === undefined ? undefined : { hostname, port };
  }
  const hostname = (name.endsWith(".") ? name.slice(0, -1) : name).toLowerCase();
  const isName = hostname.split(".").every((label) => label !== "" && label.length <= 63);
  return isName ? { hostname, port } : undefined;
}

/** Returns whether a host name of `parseHostAndPort` names this machine. */
export function isLoopbackName(hostname: string): boolean {
  return isLoopbackHost(hostname) || hostname.endsWith(".localhost");
}

/**
 * Returns the HTTP status that refuses the Host headers of a request to a listener on `listenHost`, or `undefined` if
 * the listener accepts them. A request has exactly one valid Host header (RFC 9112 §3.2). On loopback, the header names
 * this machine, because a web page can send requests to this machine by DNS rebinding.
 */
export function findHostRefusal(hosts: readonly string[] = [], listenHost: string): 400 | 403 | undefined {
  const [host = "", ...others] = hosts;
  const parsed = others.length === 0 ? parseHostAndPort(host) : undefined;
  if (!parsed) return 400;
  return isLoopbackHost(listenHost) && !isLoopbackName(parsed.hostname) ? 403 : undefined;
}

/**
 * Returns true for `localhost`, for addresses in 127.0.0.0/8, and for `::1` with or without brackets.
 * `isLoopbackHost` does not resolve host names.
 */
export function isLoopbackHost(hostname: string): boolean {
  return /^(localhost|\[::1\]|::1|127(\.\d{1,3}){3})$/.test(hostname);
}

/**
 * Removes all characters at the end of a text that occur in `characters`, for example the slashes of a URL. The
 * function takes linear time. A regular expression such as `/\/+$/` takes quadratic time for a text with many
 * slashes.
 */
export function stripTrailingCharacters(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
