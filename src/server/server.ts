import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import {
  Committer,
  Engine,
  withSafeListeners,
  systemClock,
  type Agent,
  type TaskStore,
} from "../engine/index.ts";
import { A2AError } from "../protocol/index.ts";
import { Authenticator } from "./auth/authenticator.ts";
import { EventStreamRegistry, type ErrorReporter } from "./bindings/event-stream.ts";
import { createCallerContext, type MountedHandler } from "./mounted-handler.ts";
import type { HttpReply, HttpRequest } from "./http-exchange.ts";
import { createPushService, type PushService } from "./push/push-service.ts";
import { FetchRequest, toResponse } from "./fetch-adapter.ts";
import { startGrpcServer, type GrpcServer, type GrpcOptions } from "./bindings/grpc.ts";
import { BasePathRequest } from "./base-path-request.ts";
import { NodeRequest, sendReply, getOriginalUrl } from "./node-adapter.ts";
import { toNodeListener } from "./node-listener.ts";
import { assertSafeBind, HostHeaderGuard, isLoopback } from "./loopback-protection.ts";
import { resolveStore } from "./resolve-store.ts";
import { createRestErrorReply } from "./bindings/rest.ts";
import { assertValidOptions, SUPPORTED_VERSIONS, type ServerOptions } from "./options.ts";
import { createJwksProvider } from "./jwks-provider.ts";
import { routeRequest, type RouterContext } from "./router.ts";
import { createTenantAssertion, findSingleTenant } from "./tenants.ts";
import {
  toAgentEntries,
  getAgentPath,
  createServedAgent,
  type ServedAgent,
  type ServedAgentOptions,
} from "./served-agent.ts";

export interface ListenOptions {
  /** 0 (default) takes any free port. */
  readonly port?: number;
  /** Default 127.0.0.1: this machine only. */
  readonly host?: string;
  /** Also listens for gRPC, on a port of its own. Takes the packages `@grpc/grpc-js` and `@bufbuild/protobuf`. */
  readonly grpc?: boolean | GrpcOptions;
}

/** Where a listening server is. */
export interface ServerAddress {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Where gRPC is served, when it is. */
  readonly grpc?: { readonly host: string; readonly port: number };
  readonly agents: readonly { readonly id: string; readonly url: string; readonly cardUrl: string }[];
}

/** One or several agents, served over A2A. */
export interface Server {
  /** For hosts that speak `Request` and `Response` (Hono, Next, Deno, Bun, workers). Opens the store at first use. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** For `node:http` and what is built on it. */
  readonly listener: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /**
   * Opens the store, settles what an earlier process left unfinished, and listens. Rejects for an agent whose
   * description can not be a card.
   */
  listen(options?: ListenOptions): Promise<ServerAddress>;
  /** The store that is used, for what else is to live in it. */
  readonly store: TaskStore;
  /** Ends streams between two events, stops agents (`graceMs`, default 2,000, to end by themselves), closes the store. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

const DEFAULT_MAX_BODY_BYTES = 10 * 1024 * 1024;
const DEFAULT_HEARTBEAT_MS = 15_000;

/**
 * Puts agents on the network. `agents`: one agent, or several by the ids under which they are served (`/a2a/{id}`);
 * the first also answers at the root. Nothing happens before `listen` or the first request.
 */
export function createServer(
  agents: Agent | Readonly<Record<string, Agent>>,
  options: ServerOptions = {},
): Server {
  return new AgentServer(toAgentEntries(agents), options);
}

class AgentServer implements Server {
  readonly store: TaskStore;
  readonly fetch: (request: Request) => Promise<Response>;
  readonly listener: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  readonly #options: ServerOptions;
  readonly #routerContext: RouterContext;
  readonly #eventStreams: EventStreamRegistry;
  readonly #pushService: PushService | undefined;
  #openPromise: Promise<void> | undefined;
  #isOpen = false;
  #httpServer: HttpServer | undefined;
  /** All that are open. */
  readonly #sockets = new Set<Socket>();
  #grpcServer: GrpcServer | undefined;
  #isLoopbackOnly = false;

  constructor(agents: [string, Agent][], options: ServerOptions) {
    assertValidOptions(options);
    const { versions = SUPPORTED_VERSIONS } = options;
    this.#options = options;
    this.store = resolveStore(options.store);
    this.#pushService = createPushService(options.push ?? {}, this.store, options.observer);
    const observer = withSafeListeners(options.observer ?? {});
    const told: ErrorReporter = (where, error) => {
      if (!(error instanceof A2AError) || isServerFault(error)) observer.onError?.({ where, error });
      return A2AError.from(error);
    };
    this.#eventStreams = new EventStreamRegistry(options.heartbeatMs ?? DEFAULT_HEARTBEAT_MS, told);
    const hostNames = new HostHeaderGuard(options.publicUrl);
    const gate = options.authenticate === undefined ? undefined : new Authenticator(options.authenticate);
    // The URL that paths are appended to.
    const publicUrl = options.publicUrl?.replace(/\/+$/, "");
    const {
      cardSigning: signing,
      inputModePolicy: inputModes,
      tenants,
      cardFormat: card,
      basePath,
    } = options;
    const checkTenant = tenants && createTenantAssertion(tenants);
    const tenant = findSingleTenant(tenants);
    const pushNotifications = this.#pushService !== undefined;
    const about = { gate, publicUrl, tenant, checkTenant, signing, inputModes, pushNotifications };
    const how = { versions, card, ...about };
    const served = this.#createServedAgents(agents, how);
    this.#routerContext = {
      agents: served,
      defaultAgent: served.values().next().value,
      eventStreams: this.#eventStreams,
      specRevision: options.specRevision ?? "1.0.1",
      versions,
      missingVersionPolicy: options.missingVersionPolicy ?? "0.3",
      autoMessageId: options.autoMessageId ?? false,
      simpleDialect: (options.simpleDialect ?? true) && versions.includes("0.3"),
      maxBodyBytes: options.limits?.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES,
      authenticate: gate && ((credentials) => gate.authenticate(credentials)),
      publicUrl,
      jwksProvider: createJwksProvider(this.#pushService?.signer, signing),
      assertHostAllowed: (request) => {
        if (this.#isLoopbackOnly && !options.authenticate)
          hostNames.assertAllowed(request.header("host") ?? "");
      },
      reportError: told,
    };
    // Both need no `this`, so that a host can be given them as they are.
    this.listener = (incoming, outgoing) => {
      const request = new NodeRequest(
        incoming,
        basePath === undefined ? undefined : getOriginalUrl(incoming),
      );
      const neighbour = this.#findMountedHandler(request);
      if (neighbour)
        toNodeListener((asked) => this.#callMountedHandler(neighbour, asked, request))(incoming, outgoing);
      else void this.#handle(request).then((reply) => sendReply(reply, request, outgoing));
    };
    this.fetch = async (request) => {
      const given = new FetchRequest(request);
      const neighbour = this.#findMountedHandler(given);
      if (neighbour) return await this.#callMountedHandler(neighbour, request, given);
      return toResponse(await this.#handle(given), given);
    };
  }

  async listen({ port = 0, host = "127.0.0.1", grpc = false }: ListenOptions = {}): Promise<ServerAddress> {
    assertSafeBind(host, this.#options);
    const grpcOptions = grpc === true ? {} : grpc;
    if (grpcOptions) assertSafeBind(grpcOptions.host ?? host, this.#options);
    // Keys that can not sign are known now, and not when the first signature is due.
    await this.#routerContext.jwksProvider?.getJwks();
    for (const { cardPublisher: card } of this.#routerContext.agents.values()) void card.loadDescription();
    await this.#ensureOpen();
    this.#isLoopbackOnly = isLoopback(host);
    const http = createHttpServer({ keepAliveTimeout: 65_000 }, this.listener);
    this.#httpServer = http;
    http.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      http.once("error", reject);
      http.listen(port, host, resolve);
    });
    const address = this.#buildAddress(http.address() as AddressInfo, host);
    if (!grpcOptions) return address;
    const { heartbeatMs = DEFAULT_HEARTBEAT_MS } = this.#options;
    try {
      this.#grpcServer = await startGrpcServer(this.#routerContext, grpcOptions, {
        host,
        port: address.port,
        heartbeatMs,
      });
    } catch (error) {
      // Half of what was asked for would be found out late.
      await new Promise((resolve) => http.close(resolve));
      throw error;
    }
    return { ...address, grpc: { host: grpcOptions.host ?? host, port: this.#grpcServer.port } };
  }

  async close({ graceMs = 2000 }: { graceMs?: number } = {}): Promise<void> {
    const http = this.#httpServer;
    // Deadlines keep no process alive, but one that ends before them would leave its tasks as they are.
    const awake = setInterval(() => {}, 2 ** 30);
    const closed = Promise.all([
      new Promise<void>((resolve) => (http ? http.close(() => resolve()) : resolve())),
      this.#grpcServer?.drain(),
    ]);
    await Promise.all([...this.#routerContext.agents.values()].map(({ engine }) => engine.close(graceMs)));
    const sent = this.#pushService?.close(graceMs);
    this.#eventStreams.closeAll();
    this.#grpcServer?.closeStreams();
    http?.closeIdleConnections();
    // To Node those are idle that have asked something; others are opened in advance, and may never ask.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
    const cut = setTimeout(() => {
      http?.closeAllConnections();
      this.#grpcServer?.forceShutdown();
    }, graceMs);
    await closed;
    clearTimeout(cut);
    await sent;
    clearInterval(awake);
    if (this.#openPromise) await this.#openPromise.then(() => this.store.close());
  }

  #createServedAgents(agents: [string, Agent][], how: ServedAgentOptions): Map<string, ServedAgent> {
    const {
      observer,
      limits,
      mergeChunks: merge,
      deduplicateMessages: deduplicate,
      cancelGraceMs,
    } = this.#options;
    const committer = new Committer(this.store, systemClock);
    const shared = {
      store: this.store,
      committer,
      push: this.#pushService,
      ...(observer ? { observer } : {}),
      ...(limits ? { limits } : {}),
      ...(merge === undefined ? {} : { merge }),
      ...(deduplicate === undefined ? {} : { deduplicate }),
      ...(cancelGraceMs === undefined ? {} : { cancelGraceMs }),
    };
    return new Map(
      agents.map(([id, agent]) => [
        id,
        createServedAgent(id, agent, new Engine({ ...shared, agent, agentId: id }), how),
      ]),
    );
  }

  /** Opens the store once; a failure is told to whoever asked, and tried again by the next. */
  #ensureOpen(): Promise<void> {
    this.#openPromise ??= this.#openStore().catch((error: unknown) => {
      this.#openPromise = undefined;
      throw error;
    });
    return this.#openPromise;
  }

  async #openStore(): Promise<void> {
    await this.store.open();
    for (const { engine } of this.#routerContext.agents.values()) await engine.open();
    this.#pushService?.outbox.open();
    this.#isOpen = true;
  }

  #findMountedHandler({ path }: HttpRequest): MountedHandler | undefined {
    const { mountedHandlers: beside, basePath = "" } = this.#options;
    if (!beside?.length || !path.startsWith(`${basePath}/`)) return undefined;
    const below = path.slice(basePath.length);
    return beside.find((one) => one.matchesPath(below));
  }

  async #callMountedHandler(
    neighbour: MountedHandler,
    asked: Request,
    given: HttpRequest,
  ): Promise<Response> {
    try {
      this.#routerContext.assertHostAllowed(given);
      return await neighbour.handle(asked, async () => {
        await this.#ensureOpen();
        return await createCallerContext(given, this.#routerContext);
      });
    } catch (error) {
      const refusal = this.#routerContext.reportError("beside the agents", error);
      return toResponse(createRestErrorReply(given, this.#routerContext.specRevision, refusal), given);
    }
  }

  #handle(given: HttpRequest): Promise<HttpReply> {
    const { basePath } = this.#options;
    if (basePath === undefined) return this.#routeWhenOpen(given);
    try {
      return this.#routeWhenOpen(new BasePathRequest(given, basePath));
    } catch (error) {
      return Promise.resolve(
        createRestErrorReply(given, this.#routerContext.specRevision, A2AError.from(error)),
      );
    }
  }

  #routeWhenOpen(request: HttpRequest): Promise<HttpReply> {
    return this.#isOpen ? routeRequest(request, this.#routerContext) : this.#openAndRoute(request);
  }

  async #openAndRoute(request: HttpRequest): Promise<HttpReply> {
    try {
      await this.#ensureOpen();
    } catch (error) {
      this.#routerContext.reportError("store", error);
      const text = "The server's store can not be opened; its log has the cause.";
      return createRestErrorReply(
        request,
        this.#routerContext.specRevision,
        new A2AError("UNAVAILABLE", text),
      );
    }
    return await routeRequest(request, this.#routerContext);
  }

  #buildAddress({ port }: AddressInfo, host: string): ServerAddress {
    const name = host.includes(":") ? `[${host}]` : host === "0.0.0.0" ? "127.0.0.1" : host;
    const { basePath = "" } = this.#options;
    const url = this.#routerContext.publicUrl ?? `http://${name}:${port}${basePath}`;
    const agents = [...this.#routerContext.agents.keys()].map((id) => {
      const agentUrl = url + getAgentPath(id);
      return { id, url: agentUrl, cardUrl: `${agentUrl}/.well-known/agent-card.json` };
    });
    return { url, host, port, agents };
  }
}

/** A failure of the server's that an error tells callers less about than its cause tells us. */
function isServerFault({ reason, cause }: A2AError): boolean {
  return cause !== undefined && (reason === "INTERNAL" || reason === "UNAVAILABLE");
}
