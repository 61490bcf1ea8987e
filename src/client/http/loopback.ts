/** Returns whether a URL's host name refers to the local machine. The function makes no DNS lookup. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
