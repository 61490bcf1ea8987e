import { createRouteMatcher, type RouteMatcher, type RestRoute } from "../route-matcher.ts";

/**
 * HTTP routes of A2A 0.3 §3.5.3, below the agent's URL. A2A 0.3 also lists a route for listing tasks, but
 * does not specify the parameters or the result.
 */
const REST_ROUTES: readonly RestRoute[] = [
  ["SendMessage", "POST", "/v1/message:send"],
  ["SendStreamingMessage", "POST", "/v1/message:stream"],
  ["GetTask", "GET", "/v1/tasks/{id}"],
  ["CancelTask", "POST", "/v1/tasks/{id}:cancel"],
  // The text of the specification requires POST, and its proto requires GET.
  ["SubscribeToTask", "POST GET", "/v1/tasks/{id}:subscribe"],
  ["GetExtendedAgentCard", "GET", "/v1/card"],
  ["CreateTaskPushNotificationConfig", "POST", "/v1/tasks/{id}/pushNotificationConfigs"],
  ["ListTaskPushNotificationConfigs", "GET", "/v1/tasks/{id}/pushNotificationConfigs"],
  ["GetTaskPushNotificationConfig", "GET", "/v1/tasks/{id}/pushNotificationConfigs/{configId}"],
  ["DeleteTaskPushNotificationConfig", "DELETE", "/v1/tasks/{id}/pushNotificationConfigs/{configId}"],
];

/** Returns the operation for the HTTP method and path of a 0.3 request. */
export const matchRoute: RouteMatcher = createRouteMatcher(REST_ROUTES, { tenants: false });
