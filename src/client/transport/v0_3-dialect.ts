import { isObject, type OperationName, type Operations } from "../../protocol/index.ts";
import * as v0_3 from "../../wire/v0_3/index.ts";
import {
  type JsonRpcClientDialect,
  createUnsupportedOperationError,
  type RestRequest,
  type RestClientDialect,
} from "./dialect.ts";

/** A2A 0.3 over JSON-RPC (0.3 §3.5.6), whose results have no wrapper object. */
export const jsonRpcDialect: JsonRpcClientDialect = {
  version: "0.3",
  encodeRequest(operation, params) {
    const method = JSON_RPC_METHODS[operation];
    if (method === undefined) throw createUnsupportedOperationError(operation, "0.3");
    return { method, params: v0_3.encodeParams(operation, params) };
  },
  decodeResult: v0_3.decodeResult,
  isFinalEvent: (json) => isObject(json) && json["final"] === true,
};

/** A2A 0.3 over HTTP+JSON (0.3 §3.5.3), whose bodies use the JSON mapping of the 0.3 proto file. */
export const restDialect: RestClientDialect = {
  version: "0.3",
  encodeRequest: encodeRestRequest,
  decodeResult: (operation, json, leniency) => v0_3.protoJsonCodec.decodeResult(operation, json, leniency),
  isFinalEvent(json) {
    const update = isObject(json) ? (json["statusUpdate"] ?? json["status_update"]) : undefined;
    return isObject(update) && update["final"] === true;
  },
};

const JSON_RPC_METHODS: Readonly<Record<OperationName, string | undefined>> = {
  SendMessage: "message/send",
  SendStreamingMessage: "message/stream",
  GetTask: "tasks/get",
  ListTasks: undefined,
  CancelTask: "tasks/cancel",
  SubscribeToTask: "tasks/resubscribe",
  GetExtendedAgentCard: "agent/getAuthenticatedExtendedCard",
  CreateTaskPushNotificationConfig: "tasks/pushNotificationConfig/set",
  GetTaskPushNotificationConfig: "tasks/pushNotificationConfig/get",
  ListTaskPushNotificationConfigs: "tasks/pushNotificationConfig/list",
  DeleteTaskPushNotificationConfig: "tasks/pushNotificationConfig/delete",
};

function encodeRestRequest<O extends OperationName>(
  operation: O,
  params: Operations[O]["params"],
): RestRequest {
  const request = REST_REQUEST_BUILDERS[operation](params);
  if (!request) throw createUnsupportedOperationError(operation, "0.3");
  return request.method === "POST"
    ? { ...request, body: request.body ?? v0_3.protoJsonCodec.encodeParams(operation, params) }
    : request;
}

/**
 * Functions that build the HTTP request of each operation. The body of a POST request is the JSON of the
 * proto request, unless the path already contains all fields.
 */
const REST_REQUEST_BUILDERS: {
  readonly [O in OperationName]: (params: Operations[O]["params"]) => RestRequest | undefined;
} = {
  SendMessage: () => ({ method: "POST", path: "/v1/message:send" }),
  SendStreamingMessage: () => ({ method: "POST", path: "/v1/message:stream" }),
  GetTask: ({ id, historyLength }) => ({ method: "GET", path: buildTaskPath(id), query: { historyLength } }),
  ListTasks: () => undefined,
  CancelTask: ({ id }) => ({ method: "POST", path: `${buildTaskPath(id)}:cancel`, body: {} }),
  SubscribeToTask: ({ id }) => ({ method: "POST", path: `${buildTaskPath(id)}:subscribe`, body: {} }),
  GetExtendedAgentCard: () => ({ method: "GET", path: "/v1/card" }),
  CreateTaskPushNotificationConfig: ({ taskId }) => ({ method: "POST", path: buildPushConfigPath(taskId) }),
  GetTaskPushNotificationConfig: ({ taskId, id }) => ({
    method: "GET",
    path: buildPushConfigPath(taskId, id),
  }),
  ListTaskPushNotificationConfigs: ({ taskId, pageSize, pageToken }) => ({
    method: "GET",
    path: buildPushConfigPath(taskId),
    query: { pageSize, pageToken },
  }),
  DeleteTaskPushNotificationConfig: ({ taskId, id }) => ({
    method: "DELETE",
    path: buildPushConfigPath(taskId, id),
  }),
};

function buildTaskPath(id: string): string {
  return `/v1/tasks/${encodeURIComponent(id)}`;
}

function buildPushConfigPath(taskId: string, id?: string): string {
  const path = `${buildTaskPath(taskId)}/pushNotificationConfigs`;
  return id === undefined ? path : `${path}/${encodeURIComponent(id)}`;
}
