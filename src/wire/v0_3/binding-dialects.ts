import {
  type OperationName,
  type EventTextEncoder,
  A2AError,
  isObject,
  type JsonValue,
} from "../../protocol/index.ts";
import type { JsonRpcDialect, ProtoDialect, RestDialect } from "../dialect.ts";
import type { PeerLeniency } from "../leniency.ts";
import { decodeParams } from "./decode.ts";
import { toEvent03, toResultJson } from "./encode.ts";
import { toRestErrorResponse, toJsonRpcError } from "./errors.ts";
import { isLastEvent } from "./is-last-event.ts";
import { toProtoResult } from "./proto-encode.ts";
import { selectProtoFileBytes, type ProtoFileBytes } from "./proto-file-bytes.ts";
import { createProtoJsonCodec, protoJsonCodec } from "./proto-json-codec.ts";
import { createRouteMatcher, type RouteMatcher } from "../route-matcher.ts";
import { OPERATIONS_BY_JSON_RPC_METHOD, REST_ROUTES } from "./messages.ts";

/** Returns the operation for the HTTP method and path of a 0.3 request. */
export const matchRoute: RouteMatcher = createRouteMatcher(REST_ROUTES, { tenants: false });

const serializeEventAs03Json: EventTextEncoder = (event) => JSON.stringify(toEvent03(event));

/** A2A 0.3 over JSON-RPC. */
export const jsonRpcDialect: JsonRpcDialect = {
  decodeParams,
  toResultJson,
  encodeEvent: (event) => event.encodeWith(serializeEventAs03Json),
  isLastEvent,
  version: "0.3",
  findOperation: (method) =>
    Object.hasOwn(OPERATIONS_BY_JSON_RPC_METHOD, method) ? OPERATIONS_BY_JSON_RPC_METHOD[method] : undefined,
  encodeError: (id, error) => JSON.stringify({ jsonrpc: "2.0", id, error: toJsonRpcError(error) }),
};

/**
 * Creates a dialect of A2A 0.3 over HTTP+JSON. The dialect accepts messages in the form of the 0.3 proto and in the
 * form of the 0.3 JSON-RPC types. Responses of the dialect have the form of the 0.3 proto.
 */
const createRestDialect = (fileBytes: ProtoFileBytes): RestDialect => ({
  ...createProtoJsonCodec(fileBytes),
  decodeParams: (operation, json, leniency) =>
    hasMessageInProtoForm(json)
      ? protoJsonCodec.decodeParams(operation, json, leniency)
      : decodeParams(operation, json),
  version: "0.3",
  mediaType: "application/json",
  matchRoute,
  collectParams: collectRestParams,
  toErrorResponse: toRestErrorResponse,
  failureEventName: "error",
});

const createProtoDialect = (fileBytes: ProtoFileBytes): ProtoDialect => ({
  ...createProtoJsonCodec(fileBytes),
  version: "0.3",
  toProtoResponseMessage: (operation, result) => toProtoResult(operation, result, fileBytes),
});

/** A2A 0.3 over HTTP+JSON, with files as the proto defines. */
export const restDialect: RestDialect = createRestDialect("bytes");

/** A2A 0.3 over gRPC, with files as the proto defines. */
export const protoDialect: ProtoDialect = createProtoDialect("bytes");

const base64TextRestDialect = createRestDialect("base64-text");
const base64TextProtoDialect = createProtoDialect("base64-text");

/** Returns the dialect of A2A 0.3 over HTTP+JSON in which a client expects files. */
export function selectRestDialect(userAgent: string | undefined, leniency: PeerLeniency): RestDialect {
  return selectProtoFileBytes(userAgent, leniency) === "bytes" ? restDialect : base64TextRestDialect;
}

/** Returns the dialect of A2A 0.3 over gRPC in which a client expects files. */
export function selectProtoDialect(userAgent: string | undefined, leniency: PeerLeniency): ProtoDialect {
  return selectProtoFileBytes(userAgent, leniency) === "bytes" ? protoDialect : base64TextProtoDialect;
}

/**
 * Collects the parameters of a REST request from the path and from the query or the body. The result has
 * the form of JSON-RPC parameters. The function does not validate the message in the body, because the
 * decoder validates the message.
 */
export function collectRestParams(
  operation: OperationName,
  { taskId, id }: Record<string, string>,
  query: URLSearchParams,
  body: unknown,
): unknown {
  if (taskId !== undefined) {
    if (operation === "CreateTaskPushNotificationConfig") return toCreatePushConfigParams(taskId, body);
    return id === undefined ? { id: taskId } : { id: taskId, pushNotificationConfigId: id };
  }
  if (id === undefined) return operation === "GetExtendedAgentCard" ? {} : body;
  if (operation === "CancelTask") return isObject(body) ? { ...body, id } : { id };
  const historyLength = query.get("historyLength") ?? query.get("history_length");
  return operation === "GetTask" && historyLength !== null ? { id, historyLength } : { id };
}

/**
 * Converts the body of a request that creates a push notification configuration. Clients send the
 * configuration in three forms:
 * - the request message of the proto, with a `config` member
 * - only the `config` object, as the annotation in the proto specifies
 * - the parameters of the JSON-RPC method
 */
function toCreatePushConfigParams(taskId: string, body: unknown): unknown {
  if (!isObject(body)) return body ?? { taskId };
  const request = isObject(body["config"]) ? body["config"] : body;
  if (request["taskId"] !== undefined && request["taskId"] !== taskId) {
    const description = `is ${JSON.stringify(taskId)} in the path but has another value in the body; send only one`;
    throw A2AError.invalidParams([{ field: "taskId", description }]);
  }
  const config = request["pushNotificationConfig"] ?? request["push_notification_config"];
  const id = body["configId"] ?? body["config_id"];
  if (config === undefined) return { taskId };
  return { taskId, pushNotificationConfig: isObject(config) ? withPushConfigId(id, config) : config };
}

function withPushConfigId(
  id: JsonValue | undefined,
  config: Record<string, JsonValue>,
): Record<string, JsonValue> {
  return id === undefined || (config["id"] ?? "") !== "" ? config : { ...config, id };
}

/**
 * Returns `true` if the message in the body has the form of the 0.3 proto instead of the JSON-RPC types.
 * The specification of 0.3 does not state which form HTTP+JSON requires.
 */
function hasMessageInProtoForm(body: unknown): boolean {
  if (!isObject(body)) return false;
  const message = body["message"] ?? body["request"];
  if (!isObject(message) || "kind" in message || "parts" in message) return false;
  return message["role"] !== "user";
}
