import { createRouteMatcher, type RouteMatcher, type RestRoute } from "../route-matcher.ts";

/** A2A 0.3 §3.5.3, below the agent's URL. It names a list of tasks, too, but nowhere says what that looks like. */
const REST_ROUTES: readonly RestRoute[] = [
  { operation: "SendMessage", methods: ["POST"], pathTemplate: "/v1/message:send" },
  { operation: "SendStreamingMessage", methods: ["POST"], pathTemplate: "/v1/message:stream" },
  { operation: "GetTask", methods: ["GET"], pathTemplate: "/v1/tasks/{id}" },
  { operation: "CancelTask", methods: ["POST"], pathTemplate: "/v1/tasks/{id}:cancel" },
  // The text of the specification says POST, its proto GET.
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

export const matchRoute: RouteMatcher = createRouteMatcher(REST_ROUTES, { tenants: false });
