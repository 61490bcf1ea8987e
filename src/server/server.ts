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
import type { PushService } from "./push/assemble-push-service.ts";
import type { ServerListener, ServerPlatform } from "./server-platform.ts";
import { FetchRequest, toFetchResponse } from "./fetch-adapter.ts";
import { ByteLedger } from "./byte-ledger/byte-ledger.ts";
import { WriteStallWatch } from "./byte-ledger/write-stall-watch.ts";
import { resolveTransportLimits } from "./server-limits.ts";
import { BasePathRequest } from "./base-path-request.ts";
import { handleHealthRequest } from "./health-endpoints.ts";
import { handleTickRequest } from "./tick-endpoint.ts";
import {
  assertKnownDueWorkOptions,
  processDueWork,
  type DueWorkOptions,
  type DueWorkReport,
} from "./due-work.ts";
import { CorsPolicy, joinAllowedOrigins } from "./cors.ts";
import { CrossOriginGuard } from "./cross-origin-guard.ts";
import { HostHeaderGuard } from "./loopback-protection.ts";
import { startStoreGaugeReports } from "./maintenance/store-gauge-reports.ts";
import { StoreMaintenanceService } from "./maintenance/store-maintenance.ts";
import { createRestErrorReply } from "./bindings/rest.ts";
import {
  assertKnownCloseOptions,
  type CloseOptions,
  type ListenOptions,
  type Server,
  type ServerAddress,
} from "./server-interface.ts";
import {
  assertValidOptions,
  DEFAULT_HEARTBEAT_MS,
  SUPPORTED_A2A_VERSIONS,
  type ServerOptions,
} from "./server-options.ts";
import { createPublishedJwksProvider } from "./published-jwks-provider.ts";
import type { TrafficRecordOption } from "../trace/recording/index.ts";
import { runInTraceOfRequest } from "./telemetry/run-in-trace-of-request.ts";
import { getHttpStatus, reportRequest } from "./report-request.ts";
import { findWaitUntil, waitForRunningWork } from "./host-lifetime.ts";
import { findRuntimeRemoteAddress } from "./remote-address.ts";
import { routeRequest, type RouterContext } from "./router.ts";
import type { OtherNodeEvents } from "./other-node-events.ts";
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

/** Creates a server for the runtime of a platform. */
export function createServerOnPlatform(
  platform: ServerPlatform,
  agents: Agent | Readonly<Record<string, Agent>>,
  options: ServerOptions,
): Server {
  const entries = toAgentEntries(agents, Boolean(options.mountedHandlers?.length));
  const currentIdsByEarlierId = findCurrentIdsByEarlierId(agents, entries, options.previousAgentIds);
  return new AgentServer(platform, entries, currentIdsByEarlierId, options);
}

class AgentServer implements Server {
  readonly store: TaskStore;
  readonly maintenance: StoreMaintenanceService;
  readonly fetch: Server["fetch"];
  readonly listener: Server["listener"];
  readonly #platform: ServerPlatform;
  readonly #options: ServerOptions;
  readonly #observer: Observer;
  /** Present if a mounted handler listens to the events of other nodes. */
  readonly #otherNodeEvents: OtherNodeEvents | undefined;
  readonly #telemetry: ReturnType<ServerPlatform["createTelemetry"]>;
  readonly #agents: ServedAgentRegistry;
  readonly #routerContext: RouterContext;
  readonly #eventStreams: EventStreamRegistry;
  readonly #hostGuard: HostHeaderGuard;
  readonly #corsPolicy: CorsPolicy | undefined;
  readonly #pushService: PushService | undefined;
  readonly #operatorGate: OperatorGate | undefined;
  readonly #trafficRecorder: ServerTrafficRecorder | undefined;
  readonly #stallWatch: WriteStallWatch;
  readonly #serverListener: ServerListener;
  #openPromise: Promise<void> | undefined;
  #isOpen = false;
  #isDraining = false;
  #isClosing = false;
  #stopStateReports: (() => void) | undefined;
  #stopGaugeReports: (() => void) | undefined;

  constructor(
    platform: ServerPlatform,
    agents: [string, Agent][],
    currentIdsByEarlierId: ReadonlyMap<string, string>,
    options: ServerOptions,
  ) {
    assertValidOptions(options);
    this.#platform = platform;
    const { versions = SUPPORTED_A2A_VERSIONS } = options;
    this.#options = options;
    const { retention = {} } = options;
    this.store = platform.resolveStore(options.store, retention);
    assertStoreSupportsRole(this.store, options.role);
    const { mountedHandlers = [] } = options;
    const logObserver = resolveObserver(options.observer);
    const trafficRecorder =
      options.record === undefined ? undefined : openServerRecord(platform, options.record, logObserver);
    this.#trafficRecorder = trafficRecorder;
    this.#otherNodeEvents = platform.createOtherNodeEvents?.(this.store, mountedHandlers, {
      listAgentIds: () => this.#routerContext.agents.keys(),
      pollsTaskList: options.operator !== undefined,
    });
    this.#telemetry = platform.createTelemetry({
      telemetry: options.telemetry,
      metrics: options.metrics,
      observer: combineObservers(
        [
          logObserver,
          ...(trafficRecorder ? [trafficRecorder.observer] : []),
          ...mountedHandlers.flatMap((handler) => handler.observer ?? []),
          ...(this.#otherNodeEvents ? [this.#otherNodeEvents.observer] : []),
        ].map(withSafeListeners),
      ),
      findCard: (agentId) => this.#findLoadedCard(agentId),
    });
    const { observer } = this.#telemetry;
    if (options.textIndex) assertStoreIndexesText(this.store);
    this.#operatorGate = options.operator && createOperatorGate(options.operator, this.store);
    this.#observer = observer;
    this.#pushService = platform.createPushService(options.push, this.store, observer);
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
      startSocket: (options.maintenanceSocket ?? true) ? platform.startMaintenanceSocket : undefined,
    });
    const transportLimits = resolveTransportLimits(options.limits);
    const { maxBodyBytes, maxJsonValues, bufferedBytes, writeStallMs } = transportLimits;
    const byteLedger = new ByteLedger(bufferedBytes);
    const stallWatch = new WriteStallWatch({ clock: systemClock, timeoutMs: writeStallMs, observer });
    this.#stallWatch = stallWatch;
    this.#corsPolicy = options.cors && new CorsPolicy(options.cors);
    this.#hostGuard = new HostHeaderGuard(options.publicUrl);
    const crossOriginGuard = new CrossOriginGuard(
      joinAllowedOrigins(options.allowedOrigins, options.cors),
      options.publicUrl,
    );
    const authenticator =
      options.authenticate === undefined ? undefined : new Authenticator(options.authenticate, observer);
    // URL paths are appended to this URL, so it must not end in a slash.
    const publicUrl = options.publicUrl && stripTrailingCharacters(options.publicUrl, "/");
    const { cardSigning, inputModePolicy, tenants, cardFormat, cardMaxAgeSeconds } = options;
    const { peerLeniency = "all" } = options;
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
    this.#serverListener = platform.createListener({
      options,
      routerContext: this.#routerContext,
      maxConnections: transportLimits.connections,
      stallWatch,
      isDraining: () => this.#isDraining,
      acceptOnlyLoopbackHosts: () => this.#hostGuard.acceptOnlyLoopback(),
      openStore: () => this.#openStoreOnce(),
      startMetricsServer: () => this.#telemetry.listen(),
      findMountedHandler: (request) => this.#findMountedHandler(request),
      callMountedHandler: (handler, fetchRequest, request) =>
        this.#callMountedHandler(handler, fetchRequest, request),
      handleRequest: (request) => this.#handle(request),
    });
    // Neither function uses `this`, so that both can be passed to a host as values.
    this.listener = this.#serverListener.listener;
    this.fetch = async (fetchRequest, runtimeInfo) => {
      const response = await respond(fetchRequest, runtimeInfo);
      findWaitUntil(runtimeInfo)?.(waitForRunningWork(this.#agents.listEngines(), this.#pushService?.outbox));
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
    const address = this.#serverListener.listen(options);
    return explainMissingAwait(address, "listen()", ["url", "host", "port", "grpc", "agents"]);
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
    await new Promise((resolve) => setTimeout(resolve, drainMs));
  }

  async #stop(graceMs: number): Promise<void> {
    this.#isClosing = true;
    // This timer keeps the process alive until the tasks are closed. The deadline timers do not.
    const keepAlive = setInterval(() => {}, 2 ** 30);
    this.#otherNodeEvents?.stop();
    const closed = this.#serverListener.drain();
    await Promise.all(this.#agents.listEngines().map((engine) => engine.close(graceMs)));
    const pushClosed = this.#pushService?.close(graceMs);
    this.#eventStreams.closeAll();
    this.#serverListener.closeStreamsAndIdleConnections();
    const deadline = setTimeout(() => this.#serverListener.forceClose(), graceMs);
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
    this.#serverListener.listInCards();
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
      listEngines: () => this.#agents.listEngines(),
      outbox: this.#pushService?.outbox,
      byteLedger: this.#routerContext.byteLedger,
    });
    await this.store.open((report) => this.#observer.onStoreMigration?.(report));
    await this.store.adoptTasksOfEarlierIds?.(this.#routerContext.currentIdsByEarlierId);
    if (this.#operatorGate) await this.store.overview?.prepareForAllCallers();
    if (this.#options.textIndex) await this.store.overview?.startTextIndex?.();
    this.#otherNodeEvents?.start();
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
    const handle = (): Promise<HttpReply> => this.#handleAndReport(request);
    return this.#corsPolicy ? this.#corsPolicy.respond(request, handle) : handle();
  }

  #handleAndReport(request: HttpRequest): Promise<HttpReply> {
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
      token: this.#options.tickToken ?? this.#platform.environment["COLLOQUY_TICK_TOKEN"],
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
}

/** Opens the traffic record of a server. The first lost line is reported to the observer. */
function openServerRecord(
  platform: ServerPlatform,
  record: TrafficRecordOption,
  observer: Observer,
): ServerTrafficRecorder {
  const onLoss = (error: unknown): void => observer.onError?.({ where: "traffic record", error });
  const writerOptions = { vantage: "server", name: "server", onLoss } as const;
  return new ServerTrafficRecorder(platform.openTrafficRecord(record, writerOptions));
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
  throw new Error(
    `"textIndex" requires a store with a text index, which ${name} does not have; use the memory, SQLite, or PostgreSQL store.`,
  );
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
