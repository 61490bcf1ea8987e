import type { OperationCodec, JsonRpcDialect, ProtoDialect, RestDialect } from "../dialect.ts";
import { isObject, A2AError, type OperationName } from "../../protocol/index.ts";
import { encodeJsonRpcError } from "../json-rpc.ts";
import { isDeviationAccepted, type PeerLeniency } from "../leniency.ts";
import { toRestError } from "../rest-error.ts";
import { decodeParams, decodeResult, isOperationName } from "./decode.ts";
import { createRouteMatcher, type RouteMatcher } from "../route-matcher.ts";
import { REST_ROUTES } from "./messages.ts";

/** Returns the operation for the HTTP method and path of a 1.0 request. */
export const matchRoute: RouteMatcher = createRouteMatcher(REST_ROUTES, { tenants: true });

/**
 * Codec for 1.0 JSON. The 1.0 dialects send results unchanged, because the engine uses the 1.0 model.
 * Each event already has its JSON text.
 */
const v1Codec: OperationCodec = {
  decodeParams,
  toResultJson: (_operation, result) => result,
  encodeEvent: ({ jsonText: json }) => json,
};

/** Dialect of A2A 1.0 over JSON-RPC (A2A §9). */
export const jsonRpcDialect: JsonRpcDialect = {
  ...v1Codec,
  version: "1.0",
  findOperation: (method) => (isOperationName(method) ? method : undefined),
  encodeError: encodeJsonRpcError,
};

/** Dialect of A2A 1.0 over HTTP+JSON (A2A §11). */
export const restDialect: RestDialect = {
  ...v1Codec,
  version: "1.0",
  mediaType: "application/a2a+json",
  matchRoute,
  collectParams: collectRestParams,
  toErrorResponse: toRestError,
};

/** Codec of A2A 1.0 over gRPC (A2A §10). The engine's model is already the ProtoJSON of the gRPC messages. */
export const protoDialect: ProtoDialect = {
  version: "1.0",
  decodeParams: (operation, json, leniency = "all") =>
    decodeParams(operation, operation === "ListTasks" ? omitZeroPageSize(json, leniency) : json),
  decodeResult,
  encodeParams: (_operation, params) => params,
  toProtoResponseMessage: (_operation, result) => result,
};

/** Removes a page size of 0, which counts as not set (`zeroPageSize`). */
function omitZeroPageSize(json: unknown, leniency: PeerLeniency): unknown {
  if (!isObject(json) || json["pageSize"] !== 0 || !isDeviationAccepted("zeroPageSize", leniency))
    return json;
  const { pageSize: _, ...rest } = json;
  return rest;
}

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
