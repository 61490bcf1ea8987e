import type { ConsoleSignInRequest, ConsoleSignInResult } from "../../console-api/index.ts";

/** All tabs of the console share the key. The storage of a page belongs to one origin, with its port. */
function formatStorageKey(api: URL): string {
  return `colloquy-console-key ${api.pathname}`;
}

/** Returns the key of the session, or `undefined` if the user has not signed in. The cookie is the other half. */
export function readSessionKey(api: URL): string | undefined {
  return localStorage.getItem(formatStorageKey(api)) ?? undefined;
}

/** Starts a session. `send` sends a request to the API, and throws if the request fails. */
export async function signIn(
  api: URL,
  request: ConsoleSignInRequest,
  send: (method: string, path: string, body: unknown) => Promise<Response>,
): Promise<void> {
  const { key } = (await (await send("POST", "sign-in", request)).json()) as ConsoleSignInResult;
  localStorage.setItem(formatStorageKey(api), key);
}

export function forgetSession(api: URL): void {
  localStorage.removeItem(formatStorageKey(api));
}

/** Removes the launch token from the fragment of the URL, and returns it. The fragment can also name a route. */
export function takeLaunchToken(): string | undefined {
  const params = new URLSearchParams(location.hash.replace(/^#/, ""));
  const token = params.get("token") ?? undefined;
  if (token !== undefined) history.replaceState(undefined, "", `#${params.get("route") ?? ""}`);
  return token;
}
