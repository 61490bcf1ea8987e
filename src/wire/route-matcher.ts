import type { OperationName } from "../protocol/index.ts";

/**
 * Operation, HTTP methods, and path template of a route in the HTTP+JSON binding. Several methods are separated by spaces.
 * The segment `{name}` of a path template matches any non-empty path segment. Only the last segment may end with `:verb`.
 */
export type RestRoute = readonly [operation: OperationName, methods: string, pathTemplate: string];

/**
 * Result of matching a request path. A match contains the operation and its path parameters. If the path
 * allows only other HTTP methods, the result lists the allowed methods.
 */
type RestRouteMatch =
  | { operation: OperationName; pathParams: Record<string, string> }
  /** HTTP methods that the path allows, if the request uses a different method. */
  | { allowedMethods: string[] };

/**
 * Returns the operation for an HTTP method and a path below the agent's URL. Returns `undefined` if no route
 * matches the path.
 */
export type RouteMatcher = (method: string, path: string) => RestRouteMatch | undefined;

/**
 * Creates a matcher for a list of routes. If `tenants` is true, the matcher also accepts each path below `/{tenant}`. The
 * matcher decodes a parameter after it has split the path, so that an id may contain an encoded colon or slash.
 */
export function createRouteMatcher(
  routes: readonly RestRoute[],
  { tenants }: { tenants: boolean },
): RouteMatcher {
  const matchers = ["", ...(tenants ? ["/{tenant}"] : [])].map((prefix) =>
    routes.map(([operation, methods, template]) => ({
      operation,
      methods: methods.split(" "),
      pattern: compileTemplate(prefix + template),
    })),
  );
  return (method, path) => {
    for (const patterns of matchers) {
      const allowedMethods: string[] = [];
      for (const { operation, methods, pattern } of patterns) {
        const pathParams = decodeParameters(pattern.exec(path));
        if (pathParams && methods.includes(method)) return { operation, pathParams };
        if (pathParams) allowedMethods.push(...methods);
      }
      if (allowedMethods.length > 0) return { allowedMethods };
    }
    return undefined;
  };
}

/** A parameter at the end of a path contains no colon, because the colon would begin a verb. */
function compileTemplate(template: string): RegExp {
  const source = template.replace(/\{(\w+)\}$/, "(?<$1>[^/:]+)").replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)");
  return new RegExp(`^${source}$`);
}

/** Returns the decoded parameters of a match, or `undefined` if a parameter is not valid percent-encoding. */
function decodeParameters(match: RegExpExecArray | null): Record<string, string> | undefined {
  if (!match) return undefined;
  const params: Record<string, string> = {};
  for (const name in match.groups) {
    const text = match.groups[name] ?? "";
    try {
      params[name] = text.includes("%") ? decodeURIComponent(text) : text;
    } catch {
      return undefined;
    }
  }
  return params;
}
