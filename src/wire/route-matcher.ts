import type { OperationName } from "../protocol/index.ts";

/**
 * Operation, HTTP methods, and path template of a route in the HTTP+JSON binding. Several methods are separated by spaces.
 * A path template consists of segments that are separated by slashes. The segment `{name}` matches any non-empty path
 * segment. Only the last segment may end with `:verb`.
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
 * Creates a matcher for a list of routes. If `tenants` is true, the matcher also accepts each path below
 * `/{tenant}`. The matcher removes `:verb` from the last segment and then percent-decodes the segment. An
 * id may therefore contain an encoded colon.
 */
export function createRouteMatcher(
  routes: readonly RestRoute[],
  { tenants }: { tenants: boolean },
): RouteMatcher {
  const patterns = routes.map(parseRoutePattern);
  return (method, path) => {
    const segments = splitPath(path);
    if (!segments) return undefined;
    const match = matchSegments(patterns, method, segments, {});
    const [tenant, ...rest] = segments;
    if (match || !tenants || !tenant || rest.length === 0) return match;
    return matchSegments(patterns, method, rest, { tenant: tenant.text });
  };
}

/** A decoded path segment. The last segment of a path may also have a verb. */
interface PathSegment {
  readonly text: string;
  readonly verb: string;
}

function splitPath(path: string): PathSegment[] | undefined {
  if (!path.startsWith("/")) return undefined;
  const parts = path.slice(1).split("/");
  const segments: PathSegment[] = [];
  for (const [index, part] of parts.entries()) {
    const colon = index === parts.length - 1 ? part.lastIndexOf(":") : -1;
    const text = decodeSegment(colon === -1 ? part : part.slice(0, colon));
    if (text === undefined || text === "") return undefined;
    segments.push({ text, verb: colon === -1 ? "" : part.slice(colon) });
  }
  return segments;
}

function decodeSegment(text: string): string | undefined {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

interface RoutePattern {
  readonly operation: OperationName;
  readonly methods: readonly string[];
  readonly segments: readonly { readonly literal?: string; readonly name?: string; readonly verb: string }[];
}

function parseRoutePattern([operation, methods, pathTemplate]: RestRoute): RoutePattern {
  const segments = pathTemplate
    .slice(1)
    .split("/")
    .map((segment) => {
      const [head = "", verb] = segment.split(":");
      const verbMember = { verb: verb === undefined ? "" : `:${verb}` };
      return head.startsWith("{")
        ? { ...verbMember, name: head.slice(1, -1) }
        : { ...verbMember, literal: head };
    });
  return { operation, methods: methods.split(" "), segments };
}

function matchSegments(
  patterns: readonly RoutePattern[],
  method: string,
  segments: readonly PathSegment[],
  path: Record<string, string>,
): RestRouteMatch | undefined {
  const allowedMethods: string[] = [];
  for (const pattern of patterns) {
    if (!matchesPattern(pattern, segments)) continue;
    if (!pattern.methods.includes(method)) {
      allowedMethods.push(...pattern.methods);
      continue;
    }
    for (const [index, { name }] of pattern.segments.entries()) {
      const text = segments[index]?.text;
      if (name !== undefined && text !== undefined) path[name] = text;
    }
    return { operation: pattern.operation, pathParams: path };
  }
  return allowedMethods.length > 0 ? { allowedMethods } : undefined;
}

function matchesPattern(pattern: RoutePattern, segments: readonly PathSegment[]): boolean {
  return (
    pattern.segments.length === segments.length &&
    pattern.segments.every(({ literal, verb }, index) => {
      const segment = segments[index];
      return segment?.verb === verb && (literal === undefined || literal === segment.text);
    })
  );
}
