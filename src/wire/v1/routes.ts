import { matcherOf, type MatchRoute, type Route } from "../routes.ts";

/** A2A §11.3. Each path is also served below `/{tenant}`. */
const ROUTES: readonly Route[] = [
  { operation: "SendMessage", methods: ["POST"], path: "/message:send" },
  { operation: "SendStreamingMessage", methods: ["POST"], path: "/message:stream" },
  { operation: "GetTask", methods: ["GET"], path: "/tasks/{id}" },
  { operation: "ListTasks", methods: ["GET"], path: "/tasks" },
  { operation: "CancelTask", methods: ["POST"], path: "/tasks/{id}:cancel" },
  // The text of the specification says POST, its proto GET.
  { operation: "SubscribeToTask", methods: ["POST", "GET"], path: "/tasks/{id}:subscribe" },
  { operation: "GetExtendedAgentCard", methods: ["GET"], path: "/extendedAgentCard" },
  {
    operation: "CreateTaskPushNotificationConfig",
    methods: ["POST"],
    path: "/tasks/{taskId}/pushNotificationConfigs",
  },
  {
    operation: "ListTaskPushNotificationConfigs",
    methods: ["GET"],
    path: "/tasks/{taskId}/pushNotificationConfigs",
  },
  {
    operation: "GetTaskPushNotificationConfig",
    methods: ["GET"],
    path: "/tasks/{taskId}/pushNotificationConfigs/{id}",
  },
  {
    operation: "DeleteTaskPushNotificationConfig",
    methods: ["DELETE"],
    path: "/tasks/{taskId}/pushNotificationConfigs/{id}",
  },
];

export const matchRoute: MatchRoute = matcherOf(ROUTES, { tenants: true });
