import type { OperationName, WriteEvent } from "../../protocol/index.ts";
import type { JsonRpcDialect, ProtoDialect, RestDialect } from "../dialect.ts";
import { decodeParams } from "./decode.ts";
import { encodeResult, toEvent } from "./encode.ts";
import { toError, toJsonRpcError } from "./errors.ts";
import { isLast } from "./is-last.ts";
import { toResult } from "./proto-encode.ts";
import { protoJson } from "./proto-json.ts";
import { isProtoMessage, paramsFromRest } from "./rest.ts";
import { matchRoute } from "./routes.ts";

/** A2A 0.3 §3.5.6. */
const METHODS: Readonly<Record<string, OperationName>> = {
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

const write: WriteEvent = (event) => JSON.stringify(toEvent(event));

/** A2A 0.3 over JSON-RPC. */
export const jsonRpc: JsonRpcDialect = {
  decodeParams,
  encodeResult,
  encodeEvent: (event) => event.writtenBy(write),
  isLast,
  version: "0.3",
  operationOf: (method) => (Object.hasOwn(METHODS, method) ? METHODS[method] : undefined),
  encodeError: (id, error) => JSON.stringify({ jsonrpc: "2.0", id, error: toJsonRpcError(error) }),
};

/** A2A 0.3 over HTTP+JSON: takes messages in the shape of its proto and of its JSON-RPC types, answers in the proto's. */
export const rest: RestDialect = {
  ...protoJson,
  decodeParams: (operation, json) =>
    isProtoMessage(json) ? protoJson.decodeParams(operation, json) : decodeParams(operation, json),
  version: "0.3",
  mediaType: "application/json",
  matchRoute,
  paramsOf: paramsFromRest,
  toError,
  failureEvent: "error",
};

/** A2A 0.3 over gRPC. */
export const proto: ProtoDialect = { ...protoJson, version: "0.3", toResult };
