/** The exports of this folder for package entries. `index.ts` adds the exports for other folders. */
export { createServer } from "./node/create-server.ts";
export type { CloseOptions, ServerAddress, ListenOptions, Server } from "./server-interface.ts";
export type { DueWorkOptions, DueWorkReport } from "./due-work.ts";
export type {
  CorsOptions,
  MetricsOptions,
  PushOptions,
  ServerLimits,
  ServerOptions,
  ServerRole,
  TelemetryOptions,
} from "./server-options.ts";
export type { GrpcOptions } from "./bindings/grpc.ts";
export type { CallerAgentAccess } from "./task-log-access.ts";
export type { MountedHandler } from "./mounted-handler.ts";
export type { CardSigningOptions } from "./card/card-signing.ts";
export { signCard } from "./card/agent-card-publisher.ts";
export { toNodeListener } from "./node-listener.ts";
export type { StoreMaintenance } from "./maintenance/store-maintenance.ts";
