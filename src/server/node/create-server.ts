import { createNodeCooperation } from "../../cluster/index.ts";
import type { Agent } from "../../engine/index.ts";
import { openTrafficRecord } from "../../observe/trace/recording/index.ts";
import { startMaintenanceSocket } from "../maintenance/maintenance-socket.ts";
import { createOtherNodeEvents } from "../other-node-events.ts";
import { createPushService } from "../push/webhook-sender.ts";
import {
  type Server,
  assertKnownListenOptions,
  type ListenOptions,
  type ServerAddress,
} from "../server-interface.ts";
import { type ServerOptions, DEFAULT_HEARTBEAT_MS } from "../server-options.ts";
import type { ServerPlatform, ListenerHost, ServerListener } from "../server-platform.ts";
import { createServerOnPlatform } from "../server.ts";
import { NodeTelemetry } from "../instrument/server-telemetry.ts";
import type { RetentionOptions } from "../../stores/retention/index.ts";
import { redactUserInfo } from "../../observe/logging/index.ts";
import { isPostgresUrl, PostgresStore, SqliteStore } from "../../stores/index.ts";
import { resolveStore, type StoreOption, type ServerStore } from "../resolve-store.ts";
import type { Server as HttpServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { isLoopbackHost } from "../../protocol/index.ts";
import { startGrpcServer, type GrpcServer } from "../bindings/grpc.ts";
import {
  closePipelinedResponseWithConnection,
  getOriginalUrl,
  NodeRequest,
  sendReply,
} from "../node-adapter.ts";
import { createGuardedHttpServer } from "../guarded-http-server.ts";
import { assertSafeToListenOnHost, findPublicUrlWarning } from "../loopback-protection.ts";
import { respondWithFetchHandler } from "../node-listener.ts";
import { getAgentPath } from "../served-agent.ts";

const NODE_PLATFORM: ServerPlatform = {
  environment: process.env,
  resolveStore: resolveNodeStore,
  createPushService: (options = {}, store, observer) => createPushService(options, store, observer),
  createTelemetry: (dependencies) => new NodeTelemetry(dependencies),
  openTrafficRecord,
  startMaintenanceSocket,
  createNodeCooperation,
  createOtherNodeEvents,
  createListener: (host) => new NodeServerListener(host),
};

/**
 * Creates a server for one agent, or for an object with several agents by id. The server serves each agent at
 * `/a2a/{id}`, and the first agent also at the root path. The id of a single agent is `agent.id`, or by default
 * is derived from the agent's name. The server opens the task store when `listen` is
 * called or when the first request arrives. Throws an error if the version of Node.js is too old.
 */
export function createServer(
  agents: Agent | Readonly<Record<string, Agent>>,
  options: ServerOptions = {},
): Server {
  assertNodeVersion();
  return createServerOnPlatform(NODE_PLATFORM, agents, options);
}

/** Throws an error if functions are missing that every request needs. Other runtimes state other versions of Node.js. */
function assertNodeVersion(): void {
  if (typeof Promise.withResolvers === "function") return;
  throw new Error(
    `Colloquy requires Node.js 22.18 or later, and this is ${process.version}. Update Node.js, and start the server again.`,
  );
}

/** The default task store, a SQLite file in the working directory. */
const DEFAULT_SQLITE_STORE_OPTION = "sqlite:.colloquy/colloquy.db";

/** Creates the task store that the option `store` selects, but does not open the task store. */
function resolveNodeStore(
  option: StoreOption = DEFAULT_SQLITE_STORE_OPTION,
  retention: RetentionOptions | false = {},
): ServerStore {
  return resolveStore(option, retention, createStoreFromText);
}

function createStoreFromText(text: string): ServerStore {
  if (text.startsWith("sqlite:") && text.length > "sqlite:".length)
    return new SqliteStore(text.slice("sqlite:".length));
  if (isPostgresUrl(text)) return new PostgresStore(text);
  throw new Error(
    `Unknown store ${JSON.stringify(redactUserInfo(text))}; use "memory", "sqlite:path/to/file.db", or "postgres://user@host/database".`,
  );
}

/** Serves the requests of `node:http`, and listens for HTTP and gRPC connections. */
class NodeServerListener implements ServerListener {
  readonly listener: Server["listener"];
  readonly #host: ListenerHost;
  #httpServer: HttpServer | undefined;
  /** Open connections that have received no request. */
  readonly #unusedSockets = new Set<Socket>();
  #grpcServer: GrpcServer | undefined;

  constructor(host: ListenerHost) {
    this.#host = host;
    this.listener = createRequestListener(host);
  }

  async listen(listenOptions: ListenOptions): Promise<ServerAddress> {
    assertKnownListenOptions(listenOptions);
    const { options, routerContext, stallWatch, maxConnections } = this.#host;
    const { port = 0, host = "127.0.0.1", grpc = false } = listenOptions;
    assertSafeToListenOnHost(host, options);
    const grpcOptions = grpc === true ? {} : grpc;
    if (grpcOptions) assertSafeToListenOnHost(grpcOptions.host ?? host, options);
    const warning = routerContext.agents.size > 0 && findPublicUrlWarning(host, options);
    if (warning) this.#host.reportWarning(warning);
    // An invalid signing key must fail here, not at the first signature.
    await routerContext.jwksProvider?.getJwks();
    for (const { cardPublisher } of routerContext.agents.values()) void cardPublisher.loadDescription();
    await this.#host.openStore();
    if (isLoopbackHost(host) && !options.authenticate) this.#host.acceptOnlyLoopbackHosts();
    const http = createGuardedHttpServer(this.listener, maxConnections);
    this.#httpServer = http;
    http.on("connection", (socket: Socket) => {
      this.#unusedSockets.add(socket);
      socket.once("close", () => this.#unusedSockets.delete(socket));
    });
    http.on("request", ({ socket }) => this.#unusedSockets.delete(socket));
    await new Promise<void>((resolve, reject) => {
      http.once("error", (error) => reject(explainListenError(error, host, port)));
      http.listen(port, host, resolve);
    });
    const metrics = await this.#host.startMetricsServer().catch(async (error: unknown) => {
      await new Promise((resolve) => http.close(resolve));
      throw error;
    });
    const address = {
      ...this.#buildAddress(http.address() as AddressInfo, host),
      ...(metrics ? { metrics } : {}),
    };
    if (!grpcOptions) return address;
    const { heartbeatMs = DEFAULT_HEARTBEAT_MS } = options;
    try {
      const httpServer = { host, port: address.port, heartbeatMs, stallWatch };
      this.#grpcServer = await startGrpcServer(routerContext, httpServer, grpcOptions);
    } catch (error) {
      // Without gRPC the server would be incomplete, which the operator would notice late.
      await new Promise((resolve) => http.close(resolve));
      throw error;
    }
    return { ...address, grpc: { host: grpcOptions.host ?? host, port: this.#grpcServer.port } };
  }

  listInCards(): void {
    this.#grpcServer?.listInCards();
  }

  async drain(): Promise<void> {
    const http = this.#httpServer;
    await Promise.all([
      new Promise<void>((resolve) => (http ? http.close(() => resolve()) : resolve())),
      this.#grpcServer?.drain(),
    ]);
  }

  closeStreamsAndIdleConnections(): void {
    this.#grpcServer?.closeStreams();
    this.#httpServer?.closeIdleConnections();
    // Node counts a connection as idle only after its first request. Clients also open connections in
    // advance. In Bun, `bytesRead` is also 0 after a request, and connections appear only with their first byte.
    for (const socket of this.#unusedSockets) if (socket.bytesRead === 0) socket.destroy();
  }

  forceClose(): void {
    this.#httpServer?.closeAllConnections();
    this.#grpcServer?.forceShutdown();
  }

  #buildAddress({ port }: AddressInfo, host: string): ServerAddress {
    const name = host.includes(":") ? `[${host}]` : host === "0.0.0.0" ? "127.0.0.1" : host;
    const { options, routerContext } = this.#host;
    const url = routerContext.publicUrl ?? `http://${name}:${port}${options.basePath ?? ""}`;
    const agents = [...routerContext.agents.keys()].map((id) => {
      const agentUrl = url + getAgentPath(id);
      return { id, url: agentUrl, cardUrl: `${agentUrl}/.well-known/agent-card.json` };
    });
    return { url, host, port, agents };
  }
}

function createRequestListener(host: ListenerHost): Server["listener"] {
  const { options, routerContext, stallWatch } = host;
  return (incoming, outgoing) => {
    closePipelinedResponseWithConnection(incoming, outgoing);
    // The next request of the client opens a connection to another server.
    if (host.isDraining()) outgoing.setHeader("connection", "close");
    const request = new NodeRequest(
      incoming,
      options.basePath === undefined ? undefined : getOriginalUrl(incoming),
      routerContext.byteLedger,
    );
    const handler = host.findMountedHandler(request);
    if (handler)
      void respondWithFetchHandler(
        (fetchRequest) => host.callMountedHandler(handler, fetchRequest, request),
        incoming,
        outgoing,
        { byteAccount: request.byteAccount, stallWatch },
      );
    else void host.handleRequest(request).then((reply) => sendReply(reply, request, outgoing, stallWatch));
  };
}

/** Advice by the code of an error that `listen` of `node:http` reports. */
const LISTEN_ERROR_ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE:
    "another process uses the port; stop that process, or choose another port (0 for any free port)",
  EACCES: "the port requires more permissions; choose a port above 1023",
  EADDRNOTAVAIL: "this machine does not have the address; use 127.0.0.1, or 0.0.0.0 for all addresses",
  ENOTFOUND: "the host name is unknown; use 127.0.0.1, or 0.0.0.0 for all addresses",
};

/** Adds advice to an error of the HTTP listener, and keeps the code of the error. */
function explainListenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const { code = "" } = error;
  const advice = LISTEN_ERROR_ADVICE[code];
  if (advice === undefined) return error;
  const text = `The server cannot listen on ${host}:${port}: ${advice}.`;
  return Object.assign(new Error(text, { cause: error }), { code });
}
