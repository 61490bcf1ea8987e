import { isObject, type JsonObject, type OperationName } from "../../../protocol/index.ts";
import type { RequestLine, TrafficCall } from "../../../observe/trace/index.ts";
import * as v0_3 from "../../../wire/v0_3/index.ts";
import * as v1 from "../../../wire/v1/index.ts";
import { matchRestOperation } from "../recording/call-description.ts";

const JSON_RPC_DIALECTS = { "0.3": v0_3.jsonRpcDialect, "1.0": v1.jsonRpcDialect };
const PROTO_DIALECTS = { "0.3": v0_3.protoDialect, "1.0": v1.protoDialect };

/** Returns whether the name is an operation of A2A, in contrast to an HTTP method. */
export function isRecordedOperation(name: string): name is OperationName {
  return v1.jsonRpcDialect.findOperation(name) !== undefined;
}

/**
 * Decodes the parameters of a recorded request to the form of A2A 1.0. Returns `undefined` if the record lacks the body
 * of the request, or if the request was invalid.
 */
export function decodeRecordedParams(
  operation: OperationName,
  request: RequestLine,
  vantage: TrafficCall["vantage"],
): JsonObject | undefined {
  const { binding, protocol_version: version, body, url = "" } = request;
  try {
    // A server records the parameters without their envelope or path.
    if (vantage === "server") {
      const dialects = binding === "JSONRPC" ? JSON_RPC_DIALECTS : PROTO_DIALECTS;
      const dialect = dialects[version === "0.3" ? "0.3" : "1.0"];
      return isObject(body) ? toJsonObject(dialect.decodeParams(operation, body)) : undefined;
    }
    if (binding === "JSONRPC") {
      if (!isObject(body)) return undefined;
      const dialect = JSON_RPC_DIALECTS[version === "0.3" ? "0.3" : "1.0"];
      return toJsonObject(dialect.decodeParams(operation, body["params"] ?? {}));
    }
    if (binding === "GRPC") {
      const dialect = PROTO_DIALECTS[version === "0.3" ? "0.3" : "1.0"];
      return isObject(body) ? toJsonObject(dialect.decodeParams(operation, body)) : undefined;
    }
    const method = OPERATIONS_WITH_BODY.has(operation) ? "POST" : "GET";
    const methods = operation === "DeleteTaskPushNotificationConfig" ? ["DELETE"] : [method, "POST", "GET"];
    const target = url.replace(/^[a-z]+:\/\/[^/]*/i, "");
    const header = (name: string): string | undefined =>
      name === "a2a-version" && version === "1.0" ? "1.0" : request.headers?.[name];
    for (const candidate of methods) {
      const match = matchRestOperation({ method: candidate, target, header });
      if (match?.operation !== operation) continue;
      if (OPERATIONS_WITH_BODY.has(operation) && !isObject(body)) return undefined;
      const { dialect, pathParams, query } = match;
      return toJsonObject(
        dialect.decodeParams(operation, dialect.collectParams(operation, pathParams, query, body)),
      );
    }
    return undefined;
  } catch {
    return undefined;
  }
}

const OPERATIONS_WITH_BODY: ReadonlySet<OperationName> = new Set([
  "SendMessage",
  "SendStreamingMessage",
  "CreateTaskPushNotificationConfig",
]);

/** Returns the parameters as plain JSON. */
export function toJsonObject(params: object): JsonObject {
  return JSON.parse(JSON.stringify(params)) as JsonObject;
}
