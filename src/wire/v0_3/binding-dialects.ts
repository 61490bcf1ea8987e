import type { OperationName, EventTextEncoder } from "../../protocol/index.ts";
import type { JsonRpcDialect, ProtoDialect, RestDialect } from "../dialect.ts";
import { decodeParams } from "./decode.ts";
import { encodeResult, toEvent03 } from "./encode.ts";
import { toRestErrorResponse, toJsonRpcError } from "./errors.ts";
import { isLastEvent } from "./is-last-event.ts";
import { toProtoResult } from "./proto-encode.ts";
import { protoJsonCodec } from "./proto-json-codec.ts";
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
  encodeResult,
  encodeEvent: (event) => event.encodeWith(serializeEventAs03Json),
  isLastEvent,
  version: "0.3",
  findOperation: (method) =>
    Object.hasOwn(OPERATIONS_BY_JSON_RPC_METHOD, method) ? OPERATIONS_BY_JSON_RPC_METHOD[method] : undefined,
  encodeError: (id, error) => JSON.stringify({ jsonrpc: "2.0", id, error: toJsonRpcError(error) }),
};

/**
 * Dialect of A2A 0.3 over HTTP+JSON. The dialect accepts messages in the form of the 0.3 proto and in the
 * form of the 0.3 JSON-RPC types. Responses of the dialect have the form of the 0.3 proto.
 */
export const restDialect: RestDialect = {
  ...protoJsonCodec,
  decodeParams: (operation, json) =>
    hasMessageInProtoForm(json)
      ? protoJsonCodec.decodeParams(operation, json)
      : decodeParams(operation, json),
  version: "0.3",
  mediaType: "application/json",
  matchRoute,
  collectParams: collectRestParams,
  toErrorResponse: toRestErrorResponse,
  failureEventName: "error",
};

/** A2A 0.3 over gRPC. */
export const protoDialect: ProtoDialect = {
  ...protoJsonCodec,
  version: "0.3",
  toProtoResponseMessage: toProtoResult,
};
