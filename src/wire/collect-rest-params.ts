import { A2AError, isObject, type OperationName } from "../protocol/index.ts";

/**
 * Collects the parameters of a REST request into one JSON object, in the form of JSON-RPC parameters. The
 * JSON object contains the path parameters, and also the members of the POST body or the query parameters
 * of a GET request. Throws `INVALID_PARAMS` if the body or the query contradicts the path.
 */
export function collectRestParams(
  operation: OperationName,
  path: Record<string, string>,
  query: URLSearchParams,
  body: unknown,
): unknown {
  // The decoder rejects a body that is not an object and reports what it must be.
  if (body !== undefined && body !== null && !isObject(body)) return body;
  const params: Record<string, unknown> = OPERATIONS_WITH_QUERY_PARAMS.has(operation)
    ? parseQuery(query)
    : { ...body };
  for (const [name, value] of Object.entries(path)) {
    const existing = params[name];
    if (existing !== undefined && existing !== null && existing !== "" && existing !== value) {
      const description = `is ${JSON.stringify(value)} in the path but has another value in the body or query; send only one`;
      throw A2AError.invalidParams([{ field: name, description }]);
    }
    params[name] = value;
  }
  return params;
}

const OPERATIONS_WITH_QUERY_PARAMS: ReadonlySet<OperationName> = new Set([
  "GetTask",
  "ListTasks",
  "GetExtendedAgentCard",
  "GetTaskPushNotificationConfig",
  "ListTaskPushNotificationConfigs",
  "DeleteTaskPushNotificationConfig",
]);

function parseQuery(query: URLSearchParams): Record<string, unknown> {
  const params: Record<string, unknown> = {};
  for (const name of new Set(query.keys())) {
    const [first, ...more] = query.getAll(name);
    // A repeated parameter stays a list. The decoder rejects it where a single value is expected.
    Object.defineProperty(params, name, {
      value: more.length > 0 ? [first, ...more] : parseQueryValue(name, first),
      enumerable: true,
      writable: true,
    });
  }
  return params;
}

/**
 * Converts a query value to a JSON value. Only booleans need a conversion, because the decoder reads
 * numbers, enums, and times from strings.
 */
function parseQueryValue(name: string, text: string | undefined): unknown {
  return name === "includeArtifacts" && (text === "true" || text === "false") ? text === "true" : text;
}
