import type { IncomingMessage, Server as HttpServer, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as setTimeoutPromise } from "node:timers/promises";
import {
  Committer,
  NodeLink,
  Engine,
  generateErrorId,
  systemClock,
  withSafeListeners,
  type Agent,
  type AgentDescription,
  type Observer,
  type TaskStore,
} from "../engine/index.ts";
import { explainMissingAwait } from "../usage-checks/index.ts";
import { resolveObserver } from "../logging/index.ts";
import { isLoopbackHost } from "../keys/index.ts";
import { A2AError, stripTrailingCharacters } from "../protocol/index.ts";
import { isDeviationAccepted } from "../wire/index.ts";
import { Authenticator } from "./auth/authenticator.ts";
import { EventStreamRegistry, type UnknownToA2AErrorConverter } from "./bindings/event-stream.ts";
import {
  authenticateAndCreateAgentAccess,
  createAgentAccess,
  type MountedHandler,
} from "./mounted-handler.ts";
import type { CallerAgentAccess } from "./caller-agent-access.ts";
import { OperatorGate, type OperatorAccess, type OperatorOptions } from "./operator-access.ts";
import type { HttpReply, HttpRequest } from "./http-exchange.ts";
import { createPushService, type PushService } from "./push/push-service.ts";
import { FetchRequest, toFetchResponse } from "./fetch-adapter.ts";
import { startGrpcServer, type GrpcServer } from "./bindings/grpc.ts";
import { ByteLedger } from "./byte-ledger/byte-ledger.ts";
import { closePipelinedResponseWithConnection } from "./close-pipelined-response.ts";
import { WriteStallWatch } from "./byte-ledger/write-stall-watch.ts";
import { createGuardedHttpServer } from "./guarded-http-server.ts";
import { resolveTransportLimits, type TransportLimits } from "./server-limits.ts";
import { BasePathRequest } from "./base-path-request.ts";
import { handleHealthRequest } from "./health-endpoints.ts";
import { handleTickRequest } from "./tick-endpoint.ts";
import {
  assertKnownDueWorkOptions,
  processDueWork,
  type DueWorkOptions,
  type DueWorkReport,
} from "./due-work.ts";
import { NodeRequest, sendReply, getOriginalUrl } from "./node-adapter.ts";
import { respondWithFetchHandler } from "./node-listener.ts";
import { CrossOriginGuard } from "./cross-origin-guard.ts";
import { assertSafeToListenOnHost, HostHeaderGuard } from "./loopback-protection.ts";
import { startStoreGaugeReports } from "./maintenance/store-gauge-reports.ts";
import { StoreMaintenanceService } from "./maintenance/store-maintenance.ts";
import { explainListenError } from "./listen-errors.ts";
import { resolveStore } from "./resolve-store.ts";
import { createRestErrorReply } from "./bindings/rest.ts";
import {
  assertKnownCloseOptions,
  assertKnownListenOptions,
  type CloseOptions,
  type ListenOptions,
  type Server,
  type ServerAddress,
} from "./server-interface.ts";
import { assertValidOptions, SUPPORTED_A2A_VERSIONS, type ServerOptions } from "./server-options.ts";
import { ServerTelemetry } from "./telemetry/server-telemetry.ts";
import { createPublishedJwksProvider } from "./published-jwks-provider.ts";
import { runInTraceOfRequest } from "./telemetry/run-in-trace-of-request.ts";
import { getHttpStatus, reportRequest } from "./report-request.ts";
import { findWaitUntil, waitForRunningWork } from "./host-lifetime.ts";
import { findRuntimeRemoteAddress } from "./remote-address.ts";
import { routeRequest, type RouterContext } from "./router.ts";
import { openTrafficRecord, type TrafficRecordOption } from "../trace/recording/index.ts";
import { combineObservers } from "./telemetry/combine-observers.ts";
import { ServerTrafficRecorder } from "./traffic/server-traffic-recorder.ts";
import { createTenantAcceptanceCheck, findOnlyTenantAcceptedByServer } from "./accepted-tenants.ts";
import {
  findCurrentIdsByEarlierId,
  toAgentEntries,
  getAgentPath,
  createServedAgent,
  type ServedAgentOptions,
} from "./served-agent.ts";
import { ServedAgentRegistry } from "./served-agent-registry.ts";

const DEFAULT_HEARTBEAT_MS = 15_000;

/**
 * Creates a server for one agent, or for an object with several agents by id. The server serves each agent at
 * `/a2a/{id}`, and the first agent also at the root path. The id of a single agent is `agent.id`, or by default
 * is derived from the agent's name. The server opens the task store when `listen` is
 * called or when the first request arrives.
 */
export function createServer(
  agents: Agent | Readonly<Record<string, Agent>>,
  options: ServerOptions = {},
): Server {
  const entries = toAgentEntries(agents, Boolean(options.mountedHandlers?.length));
  return new AgentServer(
    entries,
    findCurrentIdsByEarlierId(agents, entries, options.previousAgentIds),
    options,
  );
}

class AgentServer implements Server {
  readonly store: TaskStore;
  readonly maintenance: StoreMaintenanceService;
  readonly fetch: Server["fetch"];
  readonly listener: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  readonly #options: ServerOptions;
  readonly #observer: Observer;
  readonly #telemetry: ServerTelemetry;
  readonly #agents: ServedAgentRegistry;
  readonly #routerContext: RouterContext;
  readonly #eventStreams: EventStreamRegistry;
  readonly #hostGuard: HostHeaderGuard;
  readonly #pushService: PushService | undefined;
  readonly #operatorGate: OperatorGate | undefined;
  readonly #trafficRecorder: ServerTrafficRecorder | undefined;
  readonly #transportLimits: TransportLimits;
  readonly #stallWatch: WriteStallWatch;
  #openPromise: Promise<void> | undefined;
  #isOpen = false;
  #isDraining = false;
  #isClosing = false;
  #stopStateReports: (() => void) | undefined;
  #stopGaugeReports: (() => void) | undefined;
  #httpServer: HttpServer | undefined;
  /** All open connections. */
  readonly #sockets = new Set<Socket>();
  #grpcServer: GrpcServer | undefined;

  constructor(
    agents: [string, Agent][],
    currentIdsByEarlierId: ReadonlyMap<string, string>,
    options: ServerOptions,
  ) {
    assertValidOptions(options);
    const { versions = SUPPORTED_A2A_VERSIONS } = options;
    this.#options = options;
    const { retention = {} } = options;
    this.store = resolveStore(options.store, retention);
    assertStoreSupportsRole(this.store, options.role);
    const { mountedHandlers = [] } = options;
    const logObserver = resolveObserver(options.observer);
    const trafficRecorder =
      options.record === undefined ? undefined : openServerRecord(options.record, logObserver);
    this.#trafficRecorder = trafficRecorder;
    this.#telemetry = new ServerTelemetry({
      telemetry: options.telemetry,
      metrics: options.metrics,
      observer: combineObservers(
        [
          logObserver,
          ...(trafficRecorder ? [trafficRecorder.observer] : []),
          ...mountedHandlers.flatMap((handler) => handler.observer ?? []),
        ].map(withSafeListeners),
      ),
      findCard: (agentId) => this.#findLoadedCard(agentId),
    });
    const { observer } = this.#telemetry;
    if (options.textIndex) assertStoreIndexesText(this.store);
    this.#operatorGate = options.operator && createOperatorGate(options.operator, this.store);
    this.#observer = observer;
    this.#pushService = createPushService(options.push ?? {}, this.store, observer);
    if (observer.onStoreState)
      this.#stopStateReports = this.store.health?.onChange((change) => observer.onStoreState?.(change));
    const reportError: UnknownToA2AErrorConverter = (where, error) => {
      if (error instanceof A2AError && !isServerFault(error)) return error;
      const errorId = generateErrorId();
      observer.onError?.({ where, error, errorId });
      return error instanceof A2AError ? error : createInternalError(error, errorId);
    };
    this.#eventStreams = new EventStreamRegistry(options.heartbeatMs ?? DEFAULT_HEARTBEAT_MS, reportError);
    this.maintenance = new StoreMaintenanceService({
      store: this.store,
      retention,
      observer,
      findEngine: (agentId) => this.#agents.findEngine(agentId),
      openStore: () => this.#openStoreOnce(),
      offersSocket: options.maintenanceSocket ?? true,
    });
    this.#transportLimits = resolveTransportLimits(options.limits);
    const { maxBodyBytes, maxJsonValues, bufferedBytes, writeStallMs } = this.#transportLimits;
    const byteLedger = new ByteLedger(bufferedBytes);
    const stallWatch = new WriteStallWatch({ clock: systemClock, timeoutMs: writeStallMs, observer });
    this.#stallWatch = stallWatch;
    this.#hostGuard = new HostHeaderGuard(options.publicUrl);
    const crossOriginGuard = new CrossOriginGuard(options.allowedOrigins, options.publicUrl);
    const authenticator =
      options.authenticate === undefined ? undefined : new Authenticator(options.authenticate, observer);
    // URL paths are appended to this URL, so it must not end in a slash.
    const publicUrl = options.publicUrl && stripTrailingCharacters(options.publicUrl, "/");
    const { cardSigning, inputModePolicy, tenants, cardFormat, cardMaxAgeSeconds } = options;
    const { basePath, peerLeniency = "all" } = options;
    const agentRegistry = this.#createAgentRegistry(agents, {
      versions,
      cardFormat,
      cardMaxAgeSeconds,
      cardSigning,
      inputModePolicy,
      authenticator,
      publicUrl,
      tenant: findOnlyTenantAcceptedByServer(tenants),
      assertTenantServed: tenants && createTenantAcceptanceCheck(tenants),
      pushNotifications: this.#pushService !== undefined,
      deduplicatesMessages: options.deduplicateMessages ?? true,
      trafficRecorder,
      operationObserver: this.#telemetry.operationObserver,
    });
    this.#agents = agentRegistry;
    for (const { id, cardPublisher } of agentRegistry.served.values())
      void trafficRecorder?.addAgent(id, `${publicUrl ?? ""}${getAgentPath(id)}`, () =>
        cardPublisher.loadDescription(),
      );
    this.#routerContext = {
      agents: agentRegistry.served,
      currentIdsByEarlierId,
      get defaultAgent() {
        return agentRegistry.defaultAgent;
      },
      eventStreams: this.#eventStreams,
      specRevision: options.specRevision ?? "1.0.1",
      versions,
      missingVersionPolicy:
        options.missingVersionPolicy ??
        (isDeviationAccepted("missingVersionHeader", peerLeniency) ? "infer" : "0.3"),
      peerLeniency,
      autoMessageId: options.autoMessageId ?? false,
      simpleDialect: (options.simpleDialect ?? true) && versions.includes("0.3"),
      maxBodyBytes,
      maxJsonValues,
      byteLedger,
      authenticate: authenticator && ((request) => authenticator.authenticate(request)),
      publicUrl,
      jwksProvider: createPublishedJwksProvider(this.#pushService?.signer, cardSigning),
      assertRequestAllowed: (request) => {
        this.#hostGuard.assertAllowed(request.authority);
        crossOriginGuard.assertAllowed(request);
      },
      reportError,
      recordRefusal: trafficRecorder && ((refusal) => trafficRecorder.recordRefusal(refusal)),
      observer,
    };
    // Neither function uses `this`, so that both can be passed to a host as values.
    this.listener = (incoming, outgoing) => {
      closePipelinedResponseWithConnection(incoming, outgoing);
      // The next request of the client opens a connection to another server.
      if (this.#isDraining) outgoing.setHeader("connection", "close");
      const request = new NodeRequest(
        incoming,
        basePath === undefined ? undefined : getOriginalUrl(incoming),
        byteLedger,
      );
      const handler = this.#findMountedHandler(request);
      if (handler)
        void respondWithFetchHandler(
          (fetchRequest) => this.#callMountedHandler(handler, fetchRequest, request),
          incoming,
          outgoing,
          { byteAccount: request.byteAccount, stallWatch },
        );
      else void this.#handle(request).then((reply) => sendReply(reply, request, outgoing, stallWatch));
    };
    this.fetch = async (fetchRequest, runtimeInfo) => {
      const response = await respond(fetchRequest, runtimeInfo);
      findWaitUntil(runtimeInfo)?.(
        waitForRunningWork(this.#agents.listEngines(), this.#pushService?.outbox),
      );
      return response;
    };
    const respond = async (fetchRequest: Request, runtimeInfo: unknown): Promise<Response> => {
      const remoteAddress = findRuntimeRemoteAddress(fetchRequest, runtimeInfo);
      const request = new FetchRequest(fetchRequest, remoteAddress, byteLedger);
      const handler = this.#findMountedHandler(request);
      if (handler) return await this.#callMountedHandler(handler, fetchRequest, request);
      return toFetchResponse(await this.#handle(request), request, stallWatch);
    };
  }

  listen(options: ListenOptions = {}): Promise<ServerAddress> {
    return explainMissingAwait(this.#listen(options), "listen()", ["url", "host", "port", "grpc", "agents"]);
  }

  async #listen(options: ListenOptions): Promise<ServerAddress> {
    assertKnownListenOptions(options);
    const { port = 0, host = "127.0.0.1", grpc = false } = options;
    assertSafeToListenOnHost(host, this.#options);
    const grpcOptions = grpc === true ? {} : grpc;
    if (grpcOptions) assertSafeToListenOnHost(grpcOptions.host ?? host, this.#options);
    // An invalid signing key must fail here, not at the first signature.
    await this.#routerContext.jwksProvider?.getJwks();
    for (const { cardPublisher } of this.#routerContext.agents.values()) void cardPublisher.loadDescription();
    await this.#openStoreOnce();
    if (isLoopbackHost(host) && !this.#options.authenticate) this.#hostGuard.acceptOnlyLoopback();
    const http = createGuardedHttpServer(this.listener, this.#transportLimits.connections);
    this.#httpServer = http;
    http.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      http.once("error", (error) => reject(explainListenError(error, host, port)));
      http.listen(port, host, resolve);
    });
    const metrics = await this.#telemetry.listen().catch(async (error: unknown) => {
      await new Promise((resolve) => http.close(resolve));
      throw error;
    });
    const address = {
      ...this.#buildAddress(http.address() as AddressInfo, host),
      ...(metrics ? { metrics } : {}),
    };
    if (!grpcOptions) return address;
    const { heartbeatMs = DEFAULT_HEARTBEAT_MS } = this.#options;
    try {
      const httpServer = { host, port: address.port, heartbeatMs, stallWatch: this.#stallWatch };
      this.#grpcServer = await startGrpcServer(this.#routerContext, httpServer, grpcOptions);
    } catch (error) {
      // Without gRPC the server would be incomplete, which the operator would notice late.
      await new Promise((resolve) => http.close(resolve));
      throw error;
    }
    return { ...address, grpc: { host: grpcOptions.host ?? host, port: this.#grpcServer.port } };
  }

  async close(options: CloseOptions = {}): Promise<void> {
    assertKnownCloseOptions(options);
    const { graceMs = 2000, drainMs = 0 } = options;
    if (drainMs > 0) await this.#drain(drainMs);
    await this.#stop(graceMs);
  }

  /**
   * Continues to serve requests for `drainMs`, so that a load balancer can notice that the server stops. Meanwhile,
   * other servers take over the turns.
   */
  async #drain(drainMs: number): Promise<void> {
    this.#isDraining = true;
    for (const engine of this.#agents.listEngines()) void engine.drain();
    await setTimeoutPromise(drainMs);
  }

  async #stop(graceMs: number): Promise<void> {
    const http = this.#httpServer;
    this.#isClosing = true;
    // This timer keeps the process alive until the tasks are closed. The deadline timers do not.
    const keepAlive = setInterval(() => {}, 2 ** 30);
    const closed = Promise.all([
      new Promise<void>((resolve) => (http ? http.close(() => resolve()) : resolve())),
      this.#grpcServer?.drain(),
    ]);
    await Promise.all(this.#agents.listEngines().map((engine) => engine.close(graceMs)));
    const pushClosed = this.#pushService?.close(graceMs);
    this.#eventStreams.closeAll();
    this.#grpcServer?.closeStreams();
    http?.closeIdleConnections();
    // Node counts a connection as idle only after its first request. Clients also open connections in
    // advance.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
    const deadline = setTimeout(() => {
      http?.closeAllConnections();
      this.#grpcServer?.forceShutdown();
    }, graceMs);
    await closed;
    clearTimeout(deadline);
    await pushClosed;
    clearInterval(keepAlive);
    await this.maintenance.close();
    if (this.#openPromise) await this.#openPromise.then(() => this.store.close());
    this.#stopGaugeReports?.();
    this.#stopStateReports?.();
    await this.#telemetry.close();
    this.#stallWatch.close();
    await this.#trafficRecorder?.close();
  }

  async replaceAgents(agents: Agent | Readonly<Record<string, Agent>>): Promise<void> {
    await this.#agents.replaceAgents(toAgentEntries(agents), async (engine) => {
      // An open store does not open the engines of later agents.
      if (!this.#openPromise) return;
      await this.#openPromise;
      await engine.open();
    });
    this.#grpcServer?.listInCards();
  }

  async processDueWork(options: DueWorkOptions = {}): Promise<DueWorkReport> {
    assertKnownDueWorkOptions(options);
    const engines = this.#agents.listEngines();
    return await processDueWork(engines, this.#pushService?.outbox, () => this.#openStoreOnce(), options);
  }

  #createAgentRegistry(agents: [string, Agent][], options: ServedAgentOptions): ServedAgentRegistry {
    const { limits, mergeChunks, deduplicateMessages, cancelGraceMs } = this.#options;
    const engineOptions = {
      store: this.store,
      committer: new Committer(this.store, systemClock, this.#observer),
      nodeLink: NodeLink.create({ store: this.store, observer: this.#observer }),
      startsTurns: this.#options.role !== "web",
      push: this.#pushService,
      observer: this.#observer,
      runTracing: this.#telemetry.runTracing,
      ...(limits ? { limits } : {}),
      ...(mergeChunks === undefined ? {} : { mergeChunks }),
      ...(deduplicateMessages === undefined ? {} : { deduplicateMessages }),
      ...(cancelGraceMs === undefined ? {} : { cancelGraceMs }),
    };
    return new ServedAgentRegistry(agents, (id, agent) =>
      createServedAgent(id, agent, new Engine({ ...engineOptions, agent, agentId: id }), options),
    );
  }

  /**
   * Opens the task store. If opening fails, the waiting requests fail, and the next request tries to open the
   * task store again.
   */
  #openStoreOnce(): Promise<void> {
    this.#openPromise ??= this.#openStore().catch((error: unknown) => {
      this.#openPromise = undefined;
      throw error;
    });
    return this.#openPromise;
  }

  async #openStore(): Promise<void> {
    await this.#telemetry.open({
      store: this.store,
      countOpenStreams: () => this.#eventStreams.openStreamCount,
      byteLedger: this.#routerContext.byteLedger,
    });
    await this.store.open((report) => this.#observer.onStoreMigration?.(report));
    await this.store.adoptTasksOfEarlierIds?.(this.#routerContext.currentIdsByEarlierId);
    if (this.#operatorGate) await this.store.overview?.prepareForAllCallers();
    if (this.#options.textIndex) await this.store.overview?.startTextIndex?.();
    for (const engine of this.#agents.listEngines()) await engine.open();
    this.#pushService?.outbox.open();
    await this.maintenance.start();
    this.#stopGaugeReports = startStoreGaugeReports(this.store, this.#observer, systemClock);
    this.#isOpen = true;
  }

  #findLoadedCard(agentId: string): AgentDescription | undefined {
    const description = this.#routerContext.agents.get(agentId)?.cardPublisher.loadDescription();
    return description instanceof Promise ? undefined : description;
  }

  #findMountedHandler({ path }: HttpRequest): MountedHandler | undefined {
    const { mountedHandlers = [], basePath = "" } = this.#options;
    if (mountedHandlers.length === 0 || !path.startsWith(`${basePath}/`)) return undefined;
    const relativePath = path.slice(basePath.length);
    return mountedHandlers.find((handler) => handler.matchesPath(relativePath));
  }

  async #callMountedHandler(
    handler: MountedHandler,
    fetchRequest: Request,
    request: HttpRequest,
  ): Promise<Response> {
    try {
      this.#routerContext.assertRequestAllowed(request);
      return await reportRequest(this.#observer, request, getHttpStatus, () =>
        runInTraceOfRequest(request, () =>
          handler.handle(
            fetchRequest,
            () => this.#createCallerAccess(request),
            () => this.#findOperatorAccess(request),
          ),
        ),
      );
    } catch (thrown) {
      const error = this.#routerContext.reportError("mounted handler", thrown);
      return toFetchResponse(this.#createErrorReply(request, error), request);
    }
  }

  async #createCallerAccess(request: HttpRequest): Promise<CallerAgentAccess> {
    await this.#openStoreOnce();
    const access = await authenticateAndCreateAgentAccess(request, this.#routerContext, this.store);
    request.byteAccount?.assignToCaller(access.caller);
    return access;
  }

  async #findOperatorAccess(request: HttpRequest): Promise<OperatorAccess | undefined> {
    if (!this.#operatorGate) return undefined;
    await this.#openStoreOnce();
    const { store } = this;
    const access = await this.#operatorGate.findAccess(request, {
      store,
      observer: this.#observer,
      createAccess: (caller) => createAgentAccess(request, caller, this.#routerContext, store),
    });
    if (access) request.byteAccount?.assignToCaller(access.operator);
    return access;
  }

  #createErrorReply(request: HttpRequest, error: A2AError): HttpReply {
    return createRestErrorReply(request, this.#routerContext.specRevision, error);
  }

  #handle(request: HttpRequest): Promise<HttpReply> {
    return this.#observer.onRequest
      ? reportRequest(this.#observer, request, getHttpStatus, () => this.#handleUnderBasePath(request))
      : this.#handleUnderBasePath(request);
  }

  #handleUnderBasePath(request: HttpRequest): Promise<HttpReply> {
    const { basePath } = this.#options;
    try {
      const mounted = basePath === undefined ? request : new BasePathRequest(request, basePath);
      const reply =
        this.#handleHealthRequest(mounted) ??
        this.#handleTickRequest(mounted) ??
        this.#telemetry.handleMetricsRequest(mounted);
      if (reply)
        return Promise.resolve(reply).catch((error: unknown) =>
          this.#createReportedErrorReply(request, error),
        );
      if (this.#options.role === "worker") throw createWorkerError();
      return this.#openStoreIfNeededAndRoute(mounted);
    } catch (error) {
      return Promise.resolve(this.#createErrorReply(request, A2AError.from(error)));
    }
  }

  #handleHealthRequest(request: HttpRequest): HttpReply | Promise<HttpReply> | undefined {
    if (this.#options.healthEndpoints === false) return undefined;
    return handleHealthRequest(request, {
      isClosing: this.#isClosing,
      isDraining: this.#isDraining,
      storeHealth: this.store.health,
      openStore: () =>
        this.#openStoreOnce().catch((error: unknown) => {
          throw this.#routerContext.reportError("store", error);
        }),
    });
  }

  #handleTickRequest(request: HttpRequest): Promise<HttpReply> | undefined {
    return handleTickRequest(request, {
      token: this.#options.tickToken ?? process.env["COLLOQUY_TICK_TOKEN"],
      processDueWork: (timeLimitMs) => this.processDueWork(timeLimitMs === undefined ? {} : { timeLimitMs }),
    });
  }

  #createReportedErrorReply(request: HttpRequest, error: unknown): HttpReply {
    return this.#createErrorReply(request, this.#routerContext.reportError("server", error));
  }

  #openStoreIfNeededAndRoute(request: HttpRequest): Promise<HttpReply> {
    return this.#isOpen ? routeRequest(request, this.#routerContext) : this.#openAndRoute(request);
  }

  async #openAndRoute(request: HttpRequest): Promise<HttpReply> {
    try {
      await this.#openStoreOnce();
    } catch (error) {
      const errorId = generateErrorId();
      this.#observer.onError?.({ where: "store", error, errorId });
      const text = `The server cannot open its store; its log has the cause under error id ${errorId}.`;
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

/** Opens the traffic record of a server. The first lost line is reported to the observer. */
function openServerRecord(record: TrafficRecordOption, observer: Observer): ServerTrafficRecorder {
  const onLoss = (error: unknown): void => observer.onError?.({ where: "traffic record", error });
  return new ServerTrafficRecorder(openTrafficRecord(record, { vantage: "server", name: "server", onLoss }));
}

/** Throws an error if the role needs other servers, which the store does not support. */
function assertStoreSupportsRole(store: TaskStore, role: ServerOptions["role"] = "all"): void {
  if (role !== "all" && !store.nodes)
    throw new Error(
      `"role" is ${JSON.stringify(role)}, but only one server can use the store ${store.name}; use a postgres:// store.`,
    );
}

/** Throws an error if the store cannot list the tasks of all callers. */
function createOperatorGate(options: OperatorOptions, store: TaskStore): OperatorGate {
  if (store.overview) return new OperatorGate(options);
  throw new Error(
    `"operator" requires a store that lists the tasks of all callers, which ${store.name} does not; use the memory, SQLite, or PostgreSQL store.`,
  );
}

function assertStoreIndexesText({ name, overview }: TaskStore): void {
  if (overview?.startTextIndex) return;
  throw new Error(`"textIndex" requires a SQLite store, and the store is ${name}; omit the option.`);
}

function createWorkerError(): A2AError {
  const text =
    "This server is a worker and accepts no A2A requests; send the request to a server with the role web.";
  return new A2AError("UNAVAILABLE", text);
}

function createInternalError(cause: unknown, errorId: string): A2AError {
  const text = `The server failed to process the request; its log has the cause under error id ${errorId}.`;
  return new A2AError("INTERNAL", text, { cause });
}

/**
 * Returns true if an error is internal. The server hides the cause of an internal error from callers, and
 * reports the cause to the observer.
 */
function isServerFault({ reason, cause }: A2AError): boolean {
  return cause !== undefined && (reason === "INTERNAL" || reason === "UNAVAILABLE");
}
