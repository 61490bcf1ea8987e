import { createRouteMatcher, type RouteMatcher, type RestRoute } from "../route-matcher.ts";

/** HTTP routes of A2A 1.0 (A2A §11.3). The server also serves each path below `/{tenant}`. */
const REST_ROUTES: readonly RestRoute[] = [
  { operation: "SendMessage", methods: ["POST"], pathTemplate: "/message:send" },
  { operation: "SendStreamingMessage", methods: ["POST"], pathTemplate: "/message:stream" },
  { operation: "GetTask", methods: ["GET"], pathTemplate: "/tasks/{id}" },
  { operation: "ListTasks", methods: ["GET"], pathTemplate: "/tasks" },
  { operation: "CancelTask", methods: ["POST"], pathTemplate: "/tasks/{id}:cancel" },
  // The text of the specification requires POST, and its proto requires GET.
  { operation: "SubscribeToTask", methods: ["POST", "GET"], pathTemplate: "/tasks/{id}:subscribe" },
  { operation: "GetExtendedAgentCard", methods: ["GET"], pathTemplate: "/extendedAgentCard" },
  {
    operation: "CreateTaskPushNotificationConfig",
    methods: ["POST"],
    pathTemplate: "/tasks/{taskId}/pushNotificationConfigs",
  },
  {
    operation: "ListTaskPushNotificationConfigs",
    methods: ["GET"],
    pathTemplate: "/tasks/{taskId}/pushNotificationConfigs",
  },
  {
    operation: "GetTaskPushNotificationConfig",
    methods: ["GET"],
    pathTemplate: "/tasks/{taskId}/pushNotificationConfigs/{id}",
  },
  {
    operation: "DeleteTaskPushNotificationConfig",
    methods: ["DELETE"],
    pathTemplate: "/tasks/{taskId}/pushNotificationConfigs/{id}",
  },
];

/** Returns the operation for the HTTP method and path of a 1.0 request. */
export const matchRoute: RouteMatcher = createRouteMatcher(REST_ROUTES, { tenants: true });
