import { matcherOf, type MatchRoute, type Route } from "../routes.ts";

/** A2A 0.3 §3.5.3, below the agent's URL. It names a list of tasks, too, but nowhere says what that looks like. */
const ROUTES: readonly Route[] = [
  { operation: "SendMessage", methods: ["POST"], path: "/v1/message:send" },
  { operation: "SendStreamingMessage", methods: ["POST"], path: "/v1/message:stream" },
  { operation: "GetTask", methods: ["GET"], path: "/v1/tasks/{id}" },
  { operation: "CancelTask", methods: ["POST"], path: "/v1/tasks/{id}:cancel" },
  // The text of the specification says POST, its proto GET.
  { operation: "SubscribeToTask", methods: ["POST", "GET"], path: "/v1/tasks/{id}:subscribe" },
  { operation: "GetExtendedAgentCard", methods: ["GET"], path: "/v1/card" },
  {
    operation: "CreateTaskPushNotificationConfig",
    methods: ["POST"],
    path: "/v1/tasks/{id}/pushNotificationConfigs",
  },
  {
    operation: "ListTaskPushNotificationConfigs",
    methods: ["GET"],
    path: "/v1/tasks/{id}/pushNotificationConfigs",
  },
  {
    operation: "GetTaskPushNotificationConfig",
    methods: ["GET"],
    path: "/v1/tasks/{id}/pushNotificationConfigs/{configId}",
  },
  {
    operation: "DeleteTaskPushNotificationConfig",
    methods: ["DELETE"],
    path: "/v1/tasks/{id}/pushNotificationConfigs/{configId}",
  },
];

export const matchRoute: MatchRoute = matcherOf(ROUTES, { tenants: false });
