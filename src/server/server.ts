import type { Agent } from "../engine/index.ts";
import { explainMissingAwait } from "../base/usage-checks/index.ts";
import { assembleServer, type ServerParts } from "./assemble-server.ts";
import { callMountedHandler, type MountedHandler } from "./mounted-handler.ts";
import {
  assertKnownDueWorkOptions,
  processDueWork,
  type DueWorkOptions,
  type DueWorkReport,
  findWaitUntil,
  waitForRunningWork,
} from "./due-work.ts";
import { countRequestBody, FetchRequest, toFetchResponse } from "./fetch-adapter.ts";
import type { HttpRequest } from "./http-exchange.ts";
import { startStoreGaugeReports } from "./instrument/instrument.ts";
import { StoreMaintenanceService } from "./maintenance/store-maintenance.ts";
import { findRuntimeRemoteAddress } from "./remote-address.ts";
import { composeRequestHandler, StoreOpener } from "./request-handler.ts";
import { getAgentPath, toAgentEntries } from "./served-agent.ts";
import {
  assertKnownCloseOptions,
  type CloseOptions,
  type ListenOptions,
  type Server,
  type ServerAddress,
} from "./server-interface.ts";
import { assertValidOptions } from "./assert-valid-options.ts";
import type { ServerOptions } from "./server-options.ts";
import type { ServerListener, ServerPlatform } from "./server-platform.ts";
import type { ServerStore } from "./resolve-store.ts";

/** Creates a server for the runtime of a platform. */
export function createServerOnPlatform(
  platform: ServerPlatform,
  agents: Agent | Readonly<Record<string, Agent>>,
  options: ServerOptions,
): Server & { readonly maintenance: StoreMaintenanceService } {
  const entries = toAgentEntries(agents, Boolean(options.mountedHandlers?.length));
  assertValidOptions(options);
  const parts = assembleServer(platform, entries, options);
  return new AgentServer(platform, parts, options);
}

class AgentServer implements Server {
  readonly store: ServerStore;
  readonly maintenance: StoreMaintenanceService;
  readonly fetch: Server["fetch"];
  readonly listener: Server["listener"];
  readonly #options: ServerOptions;
  readonly #parts: ServerParts;
  readonly #storeOpener: StoreOpener;
  readonly #serverListener: ServerListener;
  #isDraining = false;
  #isClosing = false;
  #stopGaugeReports: (() => void) | undefined;

  constructor(platform: ServerPlatform, parts: ServerParts, options: ServerOptions) {
    const { store, instrument, agents, routerContext, stallWatch, hostGuard } = parts;
    const { observer } = instrument;
    this.store = store;
    this.#options = options;
    this.#parts = parts;
    const storeOpener = new StoreOpener(() => this.#openStoreAndServices());
    this.#storeOpener = storeOpener;
    this.maintenance = new StoreMaintenanceService({
      store,
      retention: options.retention ?? {},
      observer,
      findEngine: (agentId) => agents.findEngine(agentId),
      openStore: () => storeOpener.open(),
      startSocket: (options.maintenanceSocket ?? true) ? platform.startMaintenanceSocket : undefined,
    });
    const handleRequest = composeRequestHandler({
      options,
      routerContext,
      observer,
      store,
      storeOpener,
      tickToken: options.tickToken ?? platform.environment["COLLOQUY_TICK_TOKEN"],
      processDueWork: (timeLimitMs) => this.processDueWork(timeLimitMs === undefined ? {} : { timeLimitMs }),
      handleMetricsRequest: instrument.handleMetricsRequest,
      isDraining: () => this.#isDraining,
      isClosing: () => this.#isClosing,
    });
    this.#serverListener = platform.createListener({
      options,
      routerContext,
      maxConnections: parts.maxConnections,
      stallWatch,
      isDraining: () => this.#isDraining,
      acceptOnlyLoopbackHosts: () => hostGuard.acceptOnlyLoopback(),
      openStore: () => storeOpener.open(),
      reportWarning: (message) => observer.onWarning?.({ where: "server", message }),
      startMetricsServer: () => instrument.listenForMetrics(),
      findMountedHandler: (request) => this.#findMountedHandler(request),
      callMountedHandler: (handler, fetchRequest, request) =>
        this.#callMountedHandler(handler, fetchRequest, request),
      handleRequest,
    });
    // A host can pass both functions as values, because neither needs a receiver.
    this.listener = this.#serverListener.listener;
    this.fetch = async (fetchRequest, runtimeInfo) => {
      const response = await respond(fetchRequest, runtimeInfo);
      findWaitUntil(runtimeInfo)?.(waitForRunningWork(agents.listEngines(), parts.pushService?.outbox));
      return response;
    };
    const respond = async (fetchRequest: Request, runtimeInfo: unknown): Promise<Response> => {
      const remoteAddress = findRuntimeRemoteAddress(fetchRequest, runtimeInfo);
      const request = new FetchRequest(fetchRequest, remoteAddress, routerContext.byteLedger);
      const handler = this.#findMountedHandler(request);
      if (handler) {
        const countedRequest = countRequestBody(fetchRequest, request.byteAccount);
        const response = await this.#callMountedHandler(handler, countedRequest, request);
        request.byteAccount?.close();
        return response;
      }
      return toFetchResponse(await handleRequest(request), request, stallWatch);
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
    for (const engine of this.#parts.agents.listEngines()) void engine.drain();
    await new Promise((resolve) => setTimeout(resolve, drainMs));
  }

  async #stop(graceMs: number): Promise<void> {
    const { store, agents, instrument, pushService } = this.#parts;
    this.#isClosing = true;
    // This timer keeps the process alive until the tasks are closed. The deadline timers do not.
    const keepAlive = setInterval(() => {}, 2 ** 30);
    this.#parts.otherNodeEvents?.stop();
    const closed = this.#serverListener.drain();
    await Promise.all(agents.listEngines().map((engine) => engine.close(graceMs)));
    const pushClosed = pushService?.close(graceMs);
    this.#parts.eventStreams.closeAll();
    this.#serverListener.closeStreamsAndIdleConnections();
    const deadline = setTimeout(() => this.#serverListener.forceClose(), graceMs);
    await closed;
    clearTimeout(deadline);
    await pushClosed;
    clearInterval(keepAlive);
    await this.maintenance.close();
    if (this.#storeOpener.opening) await this.#storeOpener.opening.then(() => store.close());
    this.#stopGaugeReports?.();
    this.#parts.stallWatch.close();
    await instrument.close();
  }

  async replaceAgents(agents: Agent | Readonly<Record<string, Agent>>): Promise<void> {
    await this.#parts.agents.replaceAgents(toAgentEntries(agents), async (engine) => {
      // An open store does not open the engines of later agents.
      if (!this.#storeOpener.opening) return;
      await this.#storeOpener.opening;
      await engine.open();
    });
    this.#serverListener.listInCards();
  }

  async processDueWork(options: DueWorkOptions = {}): Promise<DueWorkReport> {
    assertKnownDueWorkOptions(options);
    const { agents, pushService } = this.#parts;
    return await processDueWork(
      agents.listEngines(),
      pushService?.outbox,
      () => this.#storeOpener.open(),
      options,
    );
  }

  async #openStoreAndServices(): Promise<void> {
    const { store, instrument, agents, routerContext, pushService } = this.#parts;
    const { observer } = instrument;
    await instrument.open(
      {
        store,
        countOpenStreams: () => this.#parts.eventStreams.openStreamCount,
        listEngines: () => agents.listEngines(),
        outbox: pushService?.outbox,
        byteLedger: routerContext.byteLedger,
      },
      [...agents.served.values()].map(({ id, cardPublisher }) => ({
        id,
        url: `${routerContext.publicUrl ?? ""}${getAgentPath(id)}`,
        loadDescription: () => cardPublisher.loadDescription(),
      })),
    );
    await store.open((report) => observer.onStoreMigration?.(report));
    if (this.#options.operator) await store.overview?.prepareForAllCallers?.();
    if (this.#options.textIndex) await store.overview?.textIndex?.start();
    this.#parts.otherNodeEvents?.start();
    for (const engine of agents.listEngines()) await engine.open();
    pushService?.outbox.open();
    await this.maintenance.start();
    this.#stopGaugeReports = startStoreGaugeReports(store, observer);
  }

  #findMountedHandler({ path }: HttpRequest): MountedHandler | undefined {
    const { mountedHandlers = [], basePath = "" } = this.#options;
    if (mountedHandlers.length === 0 || !path.startsWith(`${basePath}/`)) return undefined;
    const relativePath = path.slice(basePath.length);
    return mountedHandlers.find((handler) => handler.matchesPath(relativePath));
  }

  #callMountedHandler(
    handler: MountedHandler,
    fetchRequest: Request,
    request: HttpRequest,
  ): Promise<Response> {
    const openStore = (): Promise<void> => this.#storeOpener.open();
    return callMountedHandler(handler, fetchRequest, request, {
      ...this.#parts,
      observer: this.#parts.instrument.observer,
      openStore,
    });
  }
}
