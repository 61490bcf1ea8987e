import { createRouteMatcher, type RouteMatcher, type RestRoute } from "../route-matcher.ts";

/**
 * HTTP routes of A2A 0.3 §3.5.3, below the agent's URL. A2A 0.3 also lists a route for listing tasks, but
 * does not specify the parameters or the result.
 */
const REST_ROUTES: readonly RestRoute[] = [
  { operation: "SendMessage", methods: ["POST"], pathTemplate: "/v1/message:send" },
  { operation: "SendStreamingMessage", methods: ["POST"], pathTemplate: "/v1/message:stream" },
  { operation: "GetTask", methods: ["GET"], pathTemplate: "/v1/tasks/{id}" },
  { operation: "CancelTask", methods: ["POST"], pathTemplate: "/v1/tasks/{id}:cancel" },
  // The text of the specification requires POST, and its proto requires GET.
  { operation: "SubscribeToTask", methods: ["POST", "GET"], pathTemplate: "/v1/tasks/{id}:subscribe" },
  { operation: "GetExtendedAgentCard", methods: ["GET"], pathTemplate: "/v1/card" },
  {
    operation: "CreateTaskPushNotificationConfig",
    methods: ["POST"],
    pathTemplate: "/v1/tasks/{id}/pushNotificationConfigs",
  },
  {
    operation: "ListTaskPushNotificationConfigs",
    methods: ["GET"],
    pathTemplate: "/v1/tasks/{id}/pushNotificationConfigs",
  },
  {
    operation: "GetTaskPushNotificationConfig",
    methods: ["GET"],
    pathTemplate: "/v1/tasks/{id}/pushNotificationConfigs/{configId}",
  },
  {
    operation: "DeleteTaskPushNotificationConfig",
    methods: ["DELETE"],
    pathTemplate: "/v1/tasks/{id}/pushNotificationConfigs/{configId}",
  },
];

/** Returns the operation for the HTTP method and path of a 0.3 request. */
export const matchRoute: RouteMatcher = createRouteMatcher(REST_ROUTES, { tenants: false });
