/** What package entries export of this folder. `index.ts` adds what only other folders use. */
export { createServer } from "./node/create-server.ts";
export type { CloseOptions, ServerAddress, ListenOptions, Server } from "./server-interface.ts";
export type { DueWorkOptions, DueWorkReport } from "./due-work.ts";
export type { ServerRole } from "./server-options.ts";
export type { ServerOptions } from "./server-options.ts";
export type { CorsOptions } from "./cross-origin-guard.ts";
export type { ServerLimits } from "./server-options.ts";
export type { GrpcOptions } from "./bindings/grpc.ts";
export type { CallerAgentAccess } from "./task-log-access.ts";
export type { MountedHandler } from "./mounted-handler.ts";
export type { CardSigningOptions } from "./card/card-signing.ts";
export { signCard } from "./card/agent-card-publisher.ts";
export type { MetricsOptions, TelemetryOptions } from "./server-options.ts";
export { toNodeListener } from "./node-listener.ts";
export type { StoreMaintenance } from "./maintenance/store-maintenance.ts";
export type { PushOptions } from "./server-options.ts";
