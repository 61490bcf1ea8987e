/**
 * Wraps `fetch` so that a card endpoint gets only credentials of schemes that it has declared (a2a-cli SPEC §12.4). The
 * client reads a card without credentials first. After a response with status 401, the client repeats the request with
 * the credentials of the user, and this function removes those that the `WWW-Authenticate` header of the response does
 * not accept.
 */
export function withDeclaredCredentials(send: typeof fetch): typeof fetch {
  const schemesByUrl = new Map<string, ReadonlySet<string>>();
  return async (input, init = {}) => {
    if ((init.method ?? "GET") !== "GET" || typeof input !== "string") return await send(input, init);
    const schemes = schemesByUrl.get(input);
    const headers = Object.entries((init.headers ?? {}) as Record<string, string>).filter(
      ([name, value]) => !schemes || isDeclared(name, value, schemes),
    );
    const response = await send(input, { ...init, headers: Object.fromEntries(headers) });
    if (response.status === 401)
      schemesByUrl.set(input, parseSchemes(response.headers.get("www-authenticate") ?? ""));
    return response;
  };
}

function isDeclared(name: string, value: string, schemes: ReadonlySet<string>): boolean {
  if (name === "authorization") return schemes.has((value.split(" ")[0] ?? "").toLowerCase());
  return name !== "x-api-key" || schemes.has("apikey");
}

/** Returns the names of the schemes in a `WWW-Authenticate` header (RFC 9110 §11.6.1). */
function parseSchemes(challenge: string): ReadonlySet<string> {
  const names = challenge
    .replaceAll(/"[^"]*"/g, "")
    .split(",")
    .map((part) => /^[\w!#$%&'*+.^`|~-]+(?=\s|$)/.exec(part.trim())?.[0].toLowerCase());
  return new Set(names.filter((name) => name !== undefined));
}
