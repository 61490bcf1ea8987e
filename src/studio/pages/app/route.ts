/** Screens of the page, in the order of the navigation. */
export const SCREEN_NAMES = ["tasks", "task", "chat", "flow", "agents", "compare", "cards"] as const;
export type ScreenName = (typeof SCREEN_NAMES)[number];

/**
 * A location within the page, which the URL fragment stores: `#/task/planner/0199?event=18`. The segments are
 * `["planner", "0199"]`.
 */
export interface PageRoute {
  readonly screen: ScreenName;
  readonly segments: readonly string[];
  readonly params: Readonly<Record<string, string>>;
}

const SCREENS_BY_NAME: ReadonlyMap<string, ScreenName> = new Map(SCREEN_NAMES.map((name) => [name, name]));

/** Parses a URL fragment. An unknown screen becomes `fallback`. */
export function parseRoute(hash: string, fallback: ScreenName = "tasks"): PageRoute {
  const [path, query] = splitOnce(hash.replace(/^#\/?/, ""), "?");
  const [name = "", ...segments] = path.split("/").filter((segment) => segment !== "");
  const screen = SCREENS_BY_NAME.get(name);
  const params = Object.fromEntries(new URLSearchParams(query));
  if (screen === undefined) return { screen: fallback, segments: [], params: {} };
  return { screen, segments: segments.map(decodeUriOrKeepText), params };
}

/** Formats a route as a URL fragment. Params with the value `undefined` or an empty value are omitted. */
export function formatRoute(
  screen: ScreenName,
  segments: readonly string[] = [],
  params: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const path = [screen, ...segments].map((segment) => encodeURIComponent(segment.toWellFormed())).join("/");
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params))
    if (value !== undefined && value !== "") query.set(name, String(value));
  const text = query.toString();
  return text === "" ? `#/${path}` : `#/${path}?${text}`;
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + separator.length)];
}

function decodeUriOrKeepText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
