/**
 * Returns true for `localhost`, for addresses in 127.0.0.0/8, and for `::1` with or without brackets.
 * `isLoopbackHost` does not resolve host names.
 */
export function isLoopbackHost(hostname: string): boolean {
  return /^(localhost|\[::1\]|::1|127(\.\d{1,3}){3})$/.test(hostname);
}
