import type { OperationName, EventTextEncoder } from "../../protocol/index.ts";
import type { JsonRpcDialect, ProtoDialect, RestDialect } from "../dialect.ts";
import type { PeerLeniency } from "../leniency.ts";
import { decodeParams } from "./decode.ts";
import { toEvent03, toResultJson } from "./encode.ts";
import { toRestErrorResponse, toJsonRpcError } from "./errors.ts";
import { isLastEvent } from "./is-last-event.ts";
import { toProtoResult } from "./proto-encode.ts";
import { selectProtoFileBytes, type ProtoFileBytes } from "./proto-file-bytes.ts";
import { createProtoJsonCodec, protoJsonCodec } from "./proto-json-codec.ts";
import { hasMessageInProtoForm, collectRestParams } from "./rest-params.ts";
import { matchRoute } from "./routes.ts";

/** Operations by their JSON-RPC method names in A2A 0.3 §3.5.6. */
const OPERATIONS_BY_JSON_RPC_METHOD: Readonly<Record<string, OperationName>> = {
  "message/send": "SendMessage",
  "message/stream": "SendStreamingMessage",
  "tasks/get": "GetTask",
  "tasks/cancel": "CancelTask",
  "tasks/resubscribe": "SubscribeToTask",
  "tasks/pushNotificationConfig/set": "CreateTaskPushNotificationConfig",
  "tasks/pushNotificationConfig/get": "GetTaskPushNotificationConfig",
  "tasks/pushNotificationConfig/list": "ListTaskPushNotificationConfigs",
  "tasks/pushNotificationConfig/delete": "DeleteTaskPushNotificationConfig",
  "agent/getAuthenticatedExtendedCard": "GetExtendedAgentCard",
};

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
