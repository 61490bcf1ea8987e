/**
 * THE SERVER ROOM. `node-adapter.ts` or `fetch-adapter.ts` converts a request to an `HttpRequest`.
 * `router.ts` finds the agent. A protocol binding in `bindings/` authenticates the caller and decodes the
 * request, and `perform-operation.ts` calls the agent's engine. The response body is JSON, or a stream of
 * server-sent events that `bindings/event-stream.ts` writes.
 */
export * from "./public.ts";
export { LISTEN_OPTION_NAMES } from "./server-interface.ts";
export { SERVER_OPTION_NAMES } from "./assert-valid-options.ts";

export type { OperatorAccess, OperatorOptions } from "./operator-access.ts";
export type { ListedTask, ListedTaskPage, TaskListConditions, TaskLogAccess } from "./task-log-access.ts";

export { installNodeTraceScope } from "./instrument/server-telemetry.ts";

export type { StoreInfo } from "./maintenance/store-maintenance.ts";
export { readMaintenanceAddress, type MaintenanceAddress } from "./maintenance/maintenance-socket.ts";

export type { StoreOption } from "./resolve-store.ts";
export { createGuardedFetch } from "./push/guarded-fetch.ts";
export type { WebhookUrlGuardOptions } from "./push/webhook-url-guard.ts";
