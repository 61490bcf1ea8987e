import type { createNodeCooperation } from "../cluster/index.ts";
import type { Observer } from "../engine/index.ts";
import type { RetentionOptions } from "../stores/retention/index.ts";
import type { openTrafficRecord } from "../observe/trace/recording/index.ts";
import type { WriteStallWatch } from "./byte-ledger/write-stall-watch.ts";
import type { HttpReply, HttpRequest } from "./http-exchange.ts";
import type { startMaintenanceSocket } from "./maintenance/maintenance-socket.ts";
import type { MountedHandler } from "./mounted-handler.ts";
import type { createOtherNodeEvents } from "./other-node-events.ts";
import type { PushService } from "./push/assemble-push-service.ts";
import type { PushOptions, ServerOptions } from "./server-options.ts";
import type { RouterContext } from "./router.ts";
import type { ListenOptions, Server, ServerAddress } from "./server-interface.ts";
import type { ServerTelemetry, ServerTelemetryDependencies } from "./instrument/server-telemetry.ts";
import type { ServerStore, StoreOption } from "./resolve-store.ts";

/**
 * The parts of a server that depend on the runtime. The folder `node` has the parts for Node.js, Bun, and Deno. The
 * folder `portable` has the parts for runtimes that only offer web standards, such as workers.
 */
export interface ServerPlatform {
  /** The environment variables of the process. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Creates the task store that the option `store` selects, but does not open it. */
  resolveStore(option: StoreOption | undefined, retention: RetentionOptions | false): ServerStore;
  /** Returns `undefined` if the server sends no push notifications. */
  createPushService(
    options: PushOptions | false | undefined,
    store: ServerStore,
    observer: Observer,
  ): PushService | undefined;
  createTelemetry(dependencies: ServerTelemetryDependencies): ServerTelemetry;
  readonly openTrafficRecord: typeof openTrafficRecord;
  /** Undefined on runtimes without local sockets. */
  readonly startMaintenanceSocket: typeof startMaintenanceSocket | undefined;
  /** Undefined on runtimes whose stores have no other nodes. */
  readonly createNodeCooperation: typeof createNodeCooperation | undefined;
  /** Undefined on runtimes whose stores have no other nodes. */
  readonly createOtherNodeEvents: typeof createOtherNodeEvents | undefined;
  createListener(host: ListenerHost): ServerListener;
}

/** The parts of the server that the HTTP listener uses. */
export interface ListenerHost {
  readonly options: ServerOptions;
  readonly routerContext: RouterContext;
  readonly maxConnections: number;
  readonly stallWatch: WriteStallWatch;
  /** Returns whether clients should send their next request to another server. */
  isDraining(): boolean;
  /** Rejects further requests whose Host header names another machine. */
  acceptOnlyLoopbackHosts(): void;
  openStore(): Promise<void>;
  reportWarning(message: string): void;
  startMetricsServer(): Promise<ServerAddress["metrics"]>;
  findMountedHandler(request: HttpRequest): MountedHandler | undefined;
  callMountedHandler(handler: MountedHandler, fetchRequest: Request, request: HttpRequest): Promise<Response>;
  handleRequest(request: HttpRequest): Promise<HttpReply>;
}

/** The HTTP listener of a server, and its gRPC listener. */
export interface ServerListener {
  readonly listener: Server["listener"];
  listen(options: ListenOptions): Promise<ServerAddress>;
  /** Adds the gRPC interfaces to the cards of agents that have been added. */
  listInCards(): void;
  /** Stops accepting connections, and resolves when all connections have ended. */
  drain(): Promise<void>;
  closeStreamsAndIdleConnections(): void;
  /** Closes all remaining connections. */
  forceClose(): void;
}
