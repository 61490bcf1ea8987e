import type { OperationName } from "../protocol/index.ts";

/** One operation's place in the HTTP+JSON binding. */
export interface RestRoute {
  readonly operation: OperationName;
  readonly methods: readonly string[];
  /** Segments between slashes; `{name}` matches any but an empty one, `:verb` only at the end. */
  readonly pathTemplate: string;
}

export type RestRouteMatch =
  | { operation: OperationName; pathParams: Record<string, string> }
  /** The path exists, the method is not one of these. */
  | { allowedMethods: string[] };

/** The operation behind a method and a path below the agent's URL; undefined for a path that is none. */
export type RouteMatcher = (method: string, path: string) => RestRouteMatch | undefined;

/**
 * What finds the route of a request. `tenants`: each path is also served below `/{tenant}`. The `:verb` is split off
 * the last segment before percent-decoding, so that an id may contain an encoded colon.
 */
export function createRouteMatcher(
  routes: readonly RestRoute[],
  { tenants }: { tenants: boolean },
): RouteMatcher {
  const patterns = routes.map(parseRoutePattern);
  return (method, path) => {
    const segments = splitPath(path);
    if (!segments) return undefined;
    const plain = matchSegments(patterns, method, segments, {});
    const [tenant, ...rest] = segments;
    if (plain || !tenants || !tenant || rest.length === 0) return plain;
    return matchSegments(patterns, method, rest, { tenant: tenant.text });
  };
}

/** A segment of a path: decoded text and, of the last one, the verb. */
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

interface RoutePattern extends RestRoute {
  readonly segments: readonly { readonly literal?: string; readonly name?: string; readonly verb: string }[];
}

function parseRoutePattern(route: RestRoute): RoutePattern {
  const segments = route.pathTemplate
    .slice(1)
    .split("/")
    .map((segment) => {
      const [head = "", verb] = segment.split(":");
      const about = { verb: verb === undefined ? "" : `:${verb}` };
      return head.startsWith("{") ? { ...about, name: head.slice(1, -1) } : { ...about, literal: head };
    });
  return { ...route, segments };
}

function matchSegments(
  patterns: readonly RoutePattern[],
  method: string,
  segments: readonly PathSegment[],
  path: Record<string, string>,
): RestRouteMatch | undefined {
  const allow: string[] = [];
  for (const pattern of patterns) {
    if (!matchesPattern(pattern, segments)) continue;
    if (!pattern.methods.includes(method)) {
      allow.push(...pattern.methods);
      continue;
    }
    for (const [index, { name }] of pattern.segments.entries()) {
      const text = segments[index]?.text;
      if (name !== undefined && text !== undefined) path[name] = text;
    }
    return { operation: pattern.operation, pathParams: path };
  }
  return allow.length > 0 ? { allowedMethods: allow } : undefined;
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
