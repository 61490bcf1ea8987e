import type { OperationName, Operations } from "../../protocol/index.ts";
import { v0_3 } from "../../wire/index.ts";
import { type JsonRpcClientDialect, notInVersion, type RestCall, type RestClientDialect } from "./dialect.ts";
import { isObject } from "./http.ts";

/** A2A 0.3 over JSON-RPC (0.3 §3.5.6): the types of JSON-RPC, results without a wrapper. */
export const jsonRpc: JsonRpcClientDialect = {
  version: "0.3",
  toCall(operation, params) {
    const method = METHODS[operation];
    if (method === undefined) throw notInVersion(operation, "0.3");
    return { method, params: v0_3.encodeParams(operation, params) };
  },
  decodeResult: v0_3.decodeResult,
  isLast: (json) => isObject(json) && json["final"] === true,
};

/** A2A 0.3 over HTTP+JSON (0.3 §3.5.3): the JSON of its proto. */
export const rest: RestClientDialect = {
  version: "0.3",
  toRoute,
  decodeResult: (operation, json) => v0_3.protoJson.decodeResult(operation, json),
  isLast(json) {
    const update = isObject(json) ? (json["statusUpdate"] ?? json["status_update"]) : undefined;
    return isObject(update) && update["final"] === true;
  },
};

const METHODS: Readonly<Record<OperationName, string | undefined>> = {
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

function toRoute<O extends OperationName>(operation: O, params: Operations[O]["params"]): RestCall {
  const place = PLACES[operation](params);
  if (!place) throw notInVersion(operation, "0.3");
  return place.method === "POST"
    ? { ...place, body: place.body ?? v0_3.protoJson.encodeParams(operation, params) }
    : place;
}

/** Where each operation goes. What is posted is the request of the proto, unless the path has all of it. */
const PLACES: {
  readonly [O in OperationName]: (params: Operations[O]["params"]) => RestCall | undefined;
} = {
  SendMessage: () => ({ method: "POST", path: "/v1/message:send" }),
  SendStreamingMessage: () => ({ method: "POST", path: "/v1/message:stream" }),
  GetTask: ({ id, historyLength }) => ({ method: "GET", path: taskPath(id), query: { historyLength } }),
  ListTasks: () => undefined,
  CancelTask: ({ id }) => ({ method: "POST", path: `${taskPath(id)}:cancel`, body: {} }),
  SubscribeToTask: ({ id }) => ({ method: "POST", path: `${taskPath(id)}:subscribe`, body: {} }),
  GetExtendedAgentCard: () => ({ method: "GET", path: "/v1/card" }),
  CreateTaskPushNotificationConfig: ({ taskId }) => ({ method: "POST", path: configsPath(taskId) }),
  GetTaskPushNotificationConfig: ({ taskId, id }) => ({ method: "GET", path: configsPath(taskId, id) }),
  ListTaskPushNotificationConfigs: ({ taskId, pageSize, pageToken }) => ({
    method: "GET",
    path: configsPath(taskId),
    query: { pageSize, pageToken },
  }),
  DeleteTaskPushNotificationConfig: ({ taskId, id }) => ({ method: "DELETE", path: configsPath(taskId, id) }),
};

function taskPath(id: string): string {
  return `/v1/tasks/${encodeURIComponent(id)}`;
}

function configsPath(taskId: string, id?: string): string {
  const configs = `${taskPath(taskId)}/pushNotificationConfigs`;
  return id === undefined ? configs : `${configs}/${encodeURIComponent(id)}`;
}
