import { createRouteMatcher, type RouteMatcher, type RestRoute } from "../route-matcher.ts";

/** A2A §11.3. Each path is also served below `/{tenant}`. */
const REST_ROUTES: readonly RestRoute[] = [
  { operation: "SendMessage", methods: ["POST"], pathTemplate: "/message:send" },
  { operation: "SendStreamingMessage", methods: ["POST"], pathTemplate: "/message:stream" },
  { operation: "GetTask", methods: ["GET"], pathTemplate: "/tasks/{id}" },
  { operation: "ListTasks", methods: ["GET"], pathTemplate: "/tasks" },
  { operation: "CancelTask", methods: ["POST"], pathTemplate: "/tasks/{id}:cancel" },
  // The text of the specification says POST, its proto GET.
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

export const matchRoute: RouteMatcher = createRouteMatcher(REST_ROUTES, { tenants: true });
