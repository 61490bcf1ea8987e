import { createRouteMatcher, type RouteMatcher, type RestRoute } from "../route-matcher.ts";

/** HTTP routes of A2A 1.0 (A2A §11.3). The server also serves each path below `/{tenant}`. */
const REST_ROUTES: readonly RestRoute[] = [
  ["SendMessage", "POST", "/message:send"],
  ["SendStreamingMessage", "POST", "/message:stream"],
  ["GetTask", "GET", "/tasks/{id}"],
  ["ListTasks", "GET", "/tasks"],
  ["CancelTask", "POST", "/tasks/{id}:cancel"],
  // The text of the specification requires POST, and its proto requires GET.
  ["SubscribeToTask", "POST GET", "/tasks/{id}:subscribe"],
  ["GetExtendedAgentCard", "GET", "/extendedAgentCard"],
  ["CreateTaskPushNotificationConfig", "POST", "/tasks/{taskId}/pushNotificationConfigs"],
  ["ListTaskPushNotificationConfigs", "GET", "/tasks/{taskId}/pushNotificationConfigs"],
  ["GetTaskPushNotificationConfig", "GET", "/tasks/{taskId}/pushNotificationConfigs/{id}"],
  ["DeleteTaskPushNotificationConfig", "DELETE", "/tasks/{taskId}/pushNotificationConfigs/{id}"],
];

/** Returns the operation for the HTTP method and path of a 1.0 request. */
export const matchRoute: RouteMatcher = createRouteMatcher(REST_ROUTES, { tenants: true });
