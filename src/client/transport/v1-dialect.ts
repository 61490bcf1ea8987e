import type { CancelTaskRequest, GetTaskRequest, OperationName, Operations } from "../../protocol/index.ts";
import * as v1 from "../../wire/v1/index.ts";
import type { JsonRpcClientDialect, RestRequest, RestClientDialect } from "./dialect.ts";

const v1ResultDecoder = { version: "1.0", decodeResult: v1.decodeResult, isFinalEvent: () => false } as const;

/** A2A 1.0 over JSON-RPC (A2A §9), whose wire format is also the client's model. */
export const jsonRpcDialect: JsonRpcClientDialect = {
  ...v1ResultDecoder,
  encodeRequest: (method, params) => ({ method, params }),
};

/** A2A 1.0 over HTTP+JSON (A2A §11.3), which sends the tenant only in the path (A2A §8.3.2). */
export const restDialect: RestClientDialect = {
  ...v1ResultDecoder,
  encodeRequest(operation, { tenant, ...params }) {
    const route = buildRestRequest(operation, params);
    return tenant === undefined ? route : { ...route, path: `/${encodeURIComponent(tenant)}${route.path}` };
  },
};

function buildRestRequest<O extends OperationName>(
  operation: O,
  params: Omit<Operations[O]["params"], "tenant">,
): RestRequest {
  return REST_REQUEST_BUILDERS[operation](params);
}

const REST_REQUEST_BUILDERS: {
  readonly [O in OperationName]: (params: Omit<Operations[O]["params"], "tenant">) => RestRequest;
} = {
  SendMessage: (body) => ({ method: "POST", path: "/message:send", body }),
  SendStreamingMessage: (body) => ({ method: "POST", path: "/message:stream", body }),
  GetTask: ({ id, ...query }: GetTaskRequest) => ({ method: "GET", path: buildTaskPath(id), query }),
  ListTasks: (query) => ({ method: "GET", path: "/tasks", query }),
  CancelTask: ({ id, ...body }: CancelTaskRequest) => ({
    method: "POST",
    path: `${buildTaskPath(id)}:cancel`,
    body,
  }),
  SubscribeToTask: ({ id }) => ({ method: "POST", path: `${buildTaskPath(id)}:subscribe`, body: {} }),
  GetExtendedAgentCard: () => ({ method: "GET", path: "/extendedAgentCard" }),
  CreateTaskPushNotificationConfig: ({ taskId, ...body }) => ({
    method: "POST",
    path: buildPushConfigPath(taskId),
    body,
  }),
  GetTaskPushNotificationConfig: ({ taskId, id }) => ({
    method: "GET",
    path: buildPushConfigPath(taskId, id),
  }),
  ListTaskPushNotificationConfigs: ({ taskId, ...query }) => ({
    method: "GET",
    path: buildPushConfigPath(taskId),
    query,
  }),
  DeleteTaskPushNotificationConfig: ({ taskId, id }) => ({
    method: "DELETE",
    path: buildPushConfigPath(taskId, id),
  }),
};

function buildTaskPath(id: string): string {
  return `/tasks/${encodeURIComponent(id)}`;
}

function buildPushConfigPath(taskId: string, id?: string): string {
  const path = `${buildTaskPath(taskId)}/pushNotificationConfigs`;
  return id === undefined ? path : `${path}/${encodeURIComponent(id)}`;
}
