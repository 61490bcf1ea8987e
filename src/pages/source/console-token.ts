const TOKEN_STORAGE_KEY = "colloquy-console-token";

/**
 * Returns the token of the console. The URL that the console prints contains the token in its fragment. The page moves
 * the token to the session storage of its tab, so that the token survives a reload, and never appears in a shared URL.
 */
export function readConsoleToken(): string | undefined {
  const params = new URLSearchParams(location.hash.replace(/^#/, ""));
  const token = params.get("token");
  if (token === null) return sessionStorage.getItem(TOKEN_STORAGE_KEY) ?? undefined;
  sessionStorage.setItem(TOKEN_STORAGE_KEY, token);
  params.delete("token");
  history.replaceState(undefined, "", `#${params.get("route") ?? ""}`);
  return token;
}
