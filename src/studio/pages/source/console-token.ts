const TOKEN_STORAGE_KEY = "colloquy-console-token";

/** The token of the tab, the token of the link, and a question to the user. */
interface TokenChoice {
  readonly stored: string | undefined;
  readonly linked: string | undefined;
  readonly confirm: (question: string) => boolean;
}

/**
 * Chooses the token of the page. A link replaces the token of an open session only if the user confirms it, because the
 * link may come from an attacker who wants the user to work as another caller.
 */
export function chooseConsoleToken({ stored, linked, confirm }: TokenChoice): string | undefined {
  if (linked === undefined || stored === undefined || linked === stored) return linked ?? stored;
  const question =
    "The link contains another token than this tab. End the session of this tab, and use the token of the link?";
  return confirm(question) ? linked : stored;
}

/**
 * Returns the token of the console. The URL that the console prints contains the token in its fragment. The page moves
 * the token to the session storage of its tab, so that the token survives a reload, and never appears in a shared URL.
 */
export function readConsoleToken(): string | undefined {
  const params = new URLSearchParams(location.hash.replace(/^#/, ""));
  const linked = params.get("token") ?? undefined;
  const stored = sessionStorage.getItem(TOKEN_STORAGE_KEY) ?? undefined;
  const token = chooseConsoleToken({ stored, linked, confirm: (question) => window.confirm(question) });
  if (linked === undefined || token === undefined) return token;
  sessionStorage.setItem(TOKEN_STORAGE_KEY, token);
  params.delete("token");
  history.replaceState(undefined, "", `#${params.get("route") ?? ""}`);
  return token;
}
