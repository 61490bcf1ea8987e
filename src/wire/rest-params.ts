import { A2AError, type OperationName } from "../protocol/index.ts";
import { isObject } from "./error-details.ts";

/**
 * The JSON parameters of a REST request, for the same decoder that reads JSON-RPC's: the body of a POST or the query
 * of a GET, with what the path says. A body that contradicts the path is refused.
 */
export function collectRestParams(
  operation: OperationName,
  path: Record<string, string>,
  query: URLSearchParams,
  body: unknown,
): unknown {
  // A body that is no object goes on to the decoder, which says what it should be.
  if (body !== undefined && body !== null && !isObject(body)) return body;
  const given: Record<string, unknown> = QUERY_OPERATIONS.has(operation) ? parseQuery(query) : { ...body };
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

const QUERY_OPERATIONS: ReadonlySet<OperationName> = new Set([
  "GetTask",
  "ListTasks",
  "GetExtendedAgentCard",
  "GetTaskPushNotificationConfig",
  "ListTaskPushNotificationConfigs",
  "DeleteTaskPushNotificationConfig",
]);

function parseQuery(query: URLSearchParams): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const name of new Set(query.keys())) {
    const [first, ...more] = query.getAll(name);
    // What comes twice stays a list, which the decoder refuses where it wants one value.
    Object.defineProperty(given, name, {
      value: more.length > 0 ? [first, ...more] : parseQueryValue(name, first),
      enumerable: true,
      writable: true,
    });
  }
  return given;
}

/** Text of a query as JSON: numbers, enums and times are read from strings anyway, booleans are not. */
function parseQueryValue(name: string, text: string | undefined): unknown {
  return name === "includeArtifacts" && (text === "true" || text === "false") ? text === "true" : text;
}
