import { A2AError, type OperationName } from "../protocol/index.ts";
import { isObject } from "./error-details.ts";

/** The push operations of A2A §3.1.7–3.1.10, which have routes but are not served yet. */
const PUSH_OPERATIONS = [
  "CreateTaskPushNotificationConfig",
  "GetTaskPushNotificationConfig",
  "ListTaskPushNotificationConfigs",
  "DeleteTaskPushNotificationConfig",
] as const;

export type PushOperationName = (typeof PUSH_OPERATIONS)[number];

export function isPushOperation(name: string): name is PushOperationName {
  return (PUSH_OPERATIONS as readonly string[]).includes(name);
}

interface Route {
  readonly operation: OperationName | PushOperationName;
  readonly methods: readonly string[];
  /** Segments between slashes; `{name}` matches any but an empty one, `:verb` only at the end. */
  readonly path: string;
}

/** A2A §11.3. Each path is also served below `/{tenant}`. */
export const ROUTES: readonly Route[] = [
  { operation: "SendMessage", methods: ["POST"], path: "/message:send" },
  { operation: "SendStreamingMessage", methods: ["POST"], path: "/message:stream" },
  { operation: "GetTask", methods: ["GET"], path: "/tasks/{id}" },
  { operation: "ListTasks", methods: ["GET"], path: "/tasks" },
  { operation: "CancelTask", methods: ["POST"], path: "/tasks/{id}:cancel" },
  // The text of the specification says POST, its proto GET.
  { operation: "SubscribeToTask", methods: ["POST", "GET"], path: "/tasks/{id}:subscribe" },
  { operation: "GetExtendedAgentCard", methods: ["GET"], path: "/extendedAgentCard" },
  {
    operation: "CreateTaskPushNotificationConfig",
    methods: ["POST"],
    path: "/tasks/{taskId}/pushNotificationConfigs",
  },
  {
    operation: "ListTaskPushNotificationConfigs",
    methods: ["GET"],
    path: "/tasks/{taskId}/pushNotificationConfigs",
  },
  {
    operation: "GetTaskPushNotificationConfig",
    methods: ["GET"],
    path: "/tasks/{taskId}/pushNotificationConfigs/{id}",
  },
  {
    operation: "DeleteTaskPushNotificationConfig",
    methods: ["DELETE"],
    path: "/tasks/{taskId}/pushNotificationConfigs/{id}",
  },
];

export type RestMatch =
  | { operation: OperationName | PushOperationName; path: Record<string, string> }
  /** The path exists, the method is not one of these. */
  | { allow: string[] };

/**
 * The operation behind a method and a path below the agent's URL; undefined for a path that is none. The `:verb` is
 * split off the last segment before percent-decoding, so that an id may contain an encoded colon.
 */
export function matchRestRoute(method: string, path: string): RestMatch | undefined {
  const segments = split(path);
  if (!segments) return undefined;
  const plain = matchSegments(method, segments, {});
  const [tenant, ...rest] = segments;
  return (
    plain ?? (tenant && rest.length > 0 ? matchSegments(method, rest, { tenant: tenant.text }) : undefined)
  );
}

/** A segment of a path: decoded text and, of the last one, the verb. */
interface Segment {
  readonly text: string;
  readonly verb: string;
}

function split(path: string): Segment[] | undefined {
  if (!path.startsWith("/")) return undefined;
  const parts = path.slice(1).split("/");
  const segments: Segment[] = [];
  for (const [index, part] of parts.entries()) {
    const colon = index === parts.length - 1 ? part.lastIndexOf(":") : -1;
    const text = decode(colon === -1 ? part : part.slice(0, colon));
    if (text === undefined || text === "") return undefined;
    segments.push({ text, verb: colon === -1 ? "" : part.slice(colon) });
  }
  return segments;
}

function decode(text: string): string | undefined {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

interface Pattern extends Route {
  readonly segments: readonly { readonly literal?: string; readonly name?: string; readonly verb: string }[];
}

const PATTERNS: readonly Pattern[] = ROUTES.map((route) => ({
  ...route,
  segments: route.path
    .slice(1)
    .split("/")
    .map((segment) => {
      const [head = "", verb] = segment.split(":");
      const about = { verb: verb === undefined ? "" : `:${verb}` };
      return head.startsWith("{") ? { ...about, name: head.slice(1, -1) } : { ...about, literal: head };
    }),
}));

function matchSegments(
  method: string,
  segments: readonly Segment[],
  path: Record<string, string>,
): RestMatch | undefined {
  const allow: string[] = [];
  for (const pattern of PATTERNS) {
    if (!fits(pattern, segments)) continue;
    if (!pattern.methods.includes(method)) {
      allow.push(...pattern.methods);
      continue;
    }
    for (const [index, { name }] of pattern.segments.entries()) {
      const text = segments[index]?.text;
      if (name !== undefined && text !== undefined) path[name] = text;
    }
    return { operation: pattern.operation, path };
  }
  return allow.length > 0 ? { allow } : undefined;
}

function fits(pattern: Pattern, segments: readonly Segment[]): boolean {
  return (
    pattern.segments.length === segments.length &&
    pattern.segments.every(({ literal, verb }, index) => {
      const segment = segments[index];
      return segment?.verb === verb && (literal === undefined || literal === segment.text);
    })
  );
}

/**
 * The JSON parameters of a REST request, for the same decoder that reads JSON-RPC's: the body of a POST or the query
 * of a GET, with what the path says. A body that contradicts the path is refused.
 */
export function paramsFromRest(
  operation: OperationName,
  path: Record<string, string>,
  query: URLSearchParams,
  body: unknown,
): unknown {
  // A body that is no object goes on to the decoder, which says what it should be.
  if (body !== undefined && body !== null && !isObject(body)) return body;
  const given: Record<string, unknown> = READS.has(operation) ? fromQuery(query) : { ...body };
  for (const [name, value] of Object.entries(path)) {
    const other = given[name];
    if (other !== undefined && other !== null && other !== "" && other !== value) {
      const description = `is ${JSON.stringify(value)} in the path and something else beside it; send one`;
      throw A2AError.invalidParams([{ field: name, description }]);
    }
    given[name] = value;
  }
  return given;
}

const READS: ReadonlySet<OperationName> = new Set(["GetTask", "ListTasks", "GetExtendedAgentCard"]);

function fromQuery(query: URLSearchParams): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const name of new Set(query.keys())) {
    const [first, ...more] = query.getAll(name);
    // What comes twice stays a list, which the decoder refuses where it wants one value.
    Object.defineProperty(given, name, {
      value: more.length > 0 ? [first, ...more] : fromText(name, first),
      enumerable: true,
      writable: true,
    });
  }
  return given;
}

/** Text of a query as JSON: numbers, enums and times are read from strings anyway, booleans are not. */
function fromText(name: string, text: string | undefined): unknown {
  return name === "includeArtifacts" && (text === "true" || text === "false") ? text === "true" : text;
}
