import type { CancelTaskRequest, GetTaskRequest, OperationName, Operations } from "../../protocol/index.ts";
import { v1 } from "../../wire/index.ts";
import type { JsonRpcClientDialect, RestCall, RestClientDialect } from "./dialect.ts";

const reading = { version: "1.0", decodeResult: v1.decodeResult, isLast: () => false } as const;

/** A2A 1.0 over JSON-RPC (A2A §9): the model is the wire. */
export const jsonRpc: JsonRpcClientDialect = {
  ...reading,
  toCall: (method, params) => ({ method, params }),
};

/** A2A 1.0 over HTTP+JSON (A2A §11.3). The tenant travels in the path; once is enough (A2A §8.3.2). */
export const rest: RestClientDialect = {
  ...reading,
  toRoute(operation, { tenant, ...params }) {
    const route = routeOf(operation, params);
    return tenant === undefined ? route : { ...route, path: `/${encodeURIComponent(tenant)}${route.path}` };
  },
};

function routeOf<O extends OperationName>(
  operation: O,
  params: Omit<Operations[O]["params"], "tenant">,
): RestCall {
  return ROUTES[operation](params);
}

const ROUTES: {
  readonly [O in OperationName]: (params: Omit<Operations[O]["params"], "tenant">) => RestCall;
} = {
  SendMessage: (body) => ({ method: "POST", path: "/message:send", body }),
  SendStreamingMessage: (body) => ({ method: "POST", path: "/message:stream", body }),
  GetTask: ({ id, ...query }: GetTaskRequest) => ({ method: "GET", path: taskPath(id), query }),
  ListTasks: (query) => ({ method: "GET", path: "/tasks", query }),
  CancelTask: ({ id, ...body }: CancelTaskRequest) => ({
    method: "POST",
    path: `${taskPath(id)}:cancel`,
    body,
  }),
  SubscribeToTask: ({ id }) => ({ method: "POST", path: `${taskPath(id)}:subscribe`, body: {} }),
  GetExtendedAgentCard: () => ({ method: "GET", path: "/extendedAgentCard" }),
  CreateTaskPushNotificationConfig: ({ taskId, ...body }) => ({
    method: "POST",
    path: configsPath(taskId),
    body,
  }),
  GetTaskPushNotificationConfig: ({ taskId, id }) => ({ method: "GET", path: configsPath(taskId, id) }),
  ListTaskPushNotificationConfigs: ({ taskId, ...query }) => ({
    method: "GET",
    path: configsPath(taskId),
    query,
  }),
  DeleteTaskPushNotificationConfig: ({ taskId, id }) => ({ method: "DELETE", path: configsPath(taskId, id) }),
};

function taskPath(id: string): string {
  return `/tasks/${encodeURIComponent(id)}`;
}

function configsPath(taskId: string, id?: string): string {
  const configs = `${taskPath(taskId)}/pushNotificationConfigs`;
  return id === undefined ? configs : `${configs}/${encodeURIComponent(id)}`;
}
