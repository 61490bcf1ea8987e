/**
 * THE SERVER ROOM. `node-adapter.ts` or `fetch-adapter.ts` converts a request to an `HttpRequest`.
 * `router.ts` finds the agent. A protocol binding in `bindings/` authenticates the caller and decodes the
 * request, and `perform-operation.ts` calls the agent's engine. The response body is JSON, or a stream of
 * server-sent events that `bindings/event-stream.ts` writes.
 */
export { createServer } from "./node/create-server.ts";
export { LISTEN_OPTION_NAMES } from "./server-interface.ts";
export type { CloseOptions, ServerAddress, ListenOptions, Server } from "./server-interface.ts";
export type { DueWorkOptions, DueWorkReport } from "./due-work.ts";
export type { ServerRole } from "./server-options.ts";
export type { ServerOptions } from "./server-options.ts";
export type { CorsOptions } from "./cors.ts";
export type { ServerLimits } from "./server-limits.ts";
export { SERVER_OPTION_NAMES } from "./server-options.ts";
export type { GrpcOptions } from "./bindings/grpc.ts";

export type { CallerAgentAccess } from "./caller-agent-access.ts";
export type { MountedHandler } from "./mounted-handler.ts";
export type { OperatorAccess, OperatorOptions } from "./operator-access.ts";
export type { ListedTask, ListedTaskPage, TaskListConditions, TaskLogAccess } from "./task-log-access.ts";

export type { CardSigningOptions } from "./card/card-signing.ts";
export { signCard } from "./card/sign-card.ts";

export type { MetricsOptions, TelemetryOptions } from "./telemetry/telemetry-options.ts";

export { installNodeTraceScope } from "./telemetry/server-telemetry.ts";
export { toNodeListener } from "./node-listener.ts";

export type { StoreInfo, StoreMaintenance } from "./maintenance/store-maintenance.ts";
export { readMaintenanceAddress, type MaintenanceAddress } from "./maintenance/maintenance-socket.ts";

export type { PushOptions } from "./push/push-options.ts";

export type { StoreOption } from "./resolve-store.ts";
export { createGuardedFetch } from "./push/guarded-fetch.ts";
export type { WebhookUrlGuardOptions } from "./push/webhook-url-guard.ts";
