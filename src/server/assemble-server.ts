import {
  Committer,
  Engine,
  systemClock,
  type Agent,
  type Observer,
  generateErrorId,
} from "../engine/index.ts";
import { pickOptions } from "../base/usage-checks/index.ts";
import { getSharedRedactor } from "../observe/logging/index.ts";
import { stripTrailingCharacters, A2AError } from "../protocol/index.ts";
import { createTenantAcceptanceCheck, findOnlyTenantAcceptedByServer } from "./perform-operation.ts";
import { Authenticator } from "./auth/authenticator.ts";
import { EventStreamRegistry, type UnknownToA2AErrorConverter } from "./bindings/event-stream.ts";
import { composeOperationHandler } from "./bindings/request-pipeline.ts";
import { ByteLedger } from "./byte-ledger/byte-ledger.ts";
import { WriteStallWatch } from "./byte-ledger/write-stall-watch.ts";
import { joinAllowedOrigins, CrossOriginGuard } from "./cross-origin-guard.ts";
import { HostHeaderGuard } from "./loopback-protection.ts";
import type { OtherNodeEvents } from "./other-node-events.ts";
import { createPublishedJwksProvider, type RouterContext } from "./router.ts";
import type { PushService } from "./push/assemble-push-service.ts";
import { createServedAgent, type ServedAgentOptions, ServedAgentRegistry } from "./served-agent.ts";
import {
  resolveTransportLimits,
  DEFAULT_HEARTBEAT_MS,
  SUPPORTED_A2A_VERSIONS,
  type ServerOptions,
} from "./server-options.ts";
import type { ServerPlatform } from "./server-platform.ts";
import { createInstrument, type Instrument } from "./instrument/instrument.ts";
import type { ServerStore } from "./resolve-store.ts";

/** Options that the server passes to its engines. */
const ENGINE_OPTION_NAMES = "cancelGraceMs deduplicateMessages limits maxSilenceMs maxTurnMs mergeChunks";

/** The parts of a server that exist before its store is open. */
export interface ServerParts {
  readonly store: ServerStore;
  readonly instrument: Instrument;
  /** Present if a mounted handler listens to the events of other nodes. */
  readonly otherNodeEvents: OtherNodeEvents | undefined;
  readonly pushService: PushService | undefined;
  readonly eventStreams: EventStreamRegistry;
  readonly agents: ServedAgentRegistry;
  readonly hostGuard: HostHeaderGuard;
  /** Authenticates operators. Undefined if the server has no operators. */
  readonly operatorAuthenticator: Authenticator | undefined;
  readonly stallWatch: WriteStallWatch;
  readonly maxConnections: number;
  readonly routerContext: RouterContext;
}

/** Creates and connects the parts of a server. Throws an error if options contradict each other or the store. */
export function assembleServer(
  platform: ServerPlatform,
  entries: [string, Agent][],
  options: ServerOptions,
): ServerParts {
  const { mountedHandlers = [], retention = {}, versions = SUPPORTED_A2A_VERSIONS } = options;
  const { peerLeniency = "all", operator, tenants } = options;
  const store = platform.resolveStore(options.store, retention);
  assertStoreSupportsOptions(store, options);
  const otherNodeEvents = platform.createOtherNodeEvents?.(store, mountedHandlers, {
    listAgentIds: () => agents.served.keys(),
    pollsTaskList: operator !== undefined,
  });
  const instrument = createInstrument(platform, options, {
    store,
    observers: [
      ...mountedHandlers.flatMap((handler) => handler.observer ?? []),
      ...(otherNodeEvents ? [otherNodeEvents.observer] : []),
    ],
    findCard: (agentId) => {
      const description = agents.served.get(agentId)?.cardPublisher.loadDescription();
      return description instanceof Promise ? undefined : description;
    },
  });
  const { observer } = instrument;
  const operatorAuthenticator = operator && new Authenticator(operator.authenticate);
  const pushService = platform.createPushService(options.push, store, observer);
  const reportError = createErrorReporter(observer);
  const eventStreams = new EventStreamRegistry(options.heartbeatMs ?? DEFAULT_HEARTBEAT_MS, reportError);
  const { maxBodyBytes, maxJsonValues, bufferedBytes, writeStallMs, connections } = resolveTransportLimits(
    options.limits,
  );
  const hostGuard = new HostHeaderGuard(options.publicUrl);
  const crossOriginGuard = new CrossOriginGuard(
    joinAllowedOrigins(options.allowedOrigins, options.cors),
    options.publicUrl,
  );
  const authenticator =
    options.authenticate === undefined ? undefined : new Authenticator(options.authenticate, observer);
  if (authenticator)
    getSharedRedactor().addSecuritySchemes(authenticator.securityDeclaration.securitySchemes);
  // URL paths are appended to this URL, so it must not end in a slash.
  const publicUrl = options.publicUrl && stripTrailingCharacters(options.publicUrl, "/");
  const engineOptions = {
    ...pickOptions<ServerOptions>(options, ENGINE_OPTION_NAMES),
    store,
    committer: new Committer(store, systemClock, observer),
    nodeCooperation: platform.createNodeCooperation?.({ store, observer }),
    startsTurns: options.role !== "web",
    push: pushService,
    observer,
    runTracing: instrument.runTracing,
  };
  const servedAgentOptions: ServedAgentOptions = {
    versions,
    cardFormat: options.cardFormat,
    cardMaxAgeSeconds: options.cardMaxAgeSeconds,
    cardSigning: options.cardSigning,
    inputModePolicy: options.inputModePolicy,
    authenticator,
    publicUrl,
    tenant: findOnlyTenantAcceptedByServer(tenants),
    pushNotifications: pushService !== undefined,
    deduplicatesMessages: options.deduplicateMessages ?? true,
  };
  const agents = new ServedAgentRegistry(entries, (id, agent) =>
    createServedAgent(id, agent, new Engine({ ...engineOptions, agent, agentId: id }), servedAgentOptions),
  );
  const routerContext: RouterContext = {
    agents: agents.served,
    currentIdsByEarlierId: new Map(Object.entries(options.previousAgentIds ?? {})),
    get defaultAgent() {
      return agents.defaultAgent;
    },
    eventStreams,
    specRevision: options.specRevision ?? "1.0.1",
    versions,
    missingVersionPolicy: options.missingVersionPolicy ?? "0.3",
    peerLeniency,
    autoMessageId: options.autoMessageId ?? false,
    simpleDialect: (options.simpleDialect ?? true) && versions.includes("0.3"),
    maxBodyBytes,
    maxJsonValues,
    byteLedger: new ByteLedger(bufferedBytes),
    authenticate: authenticator && ((request) => authenticator.authenticate(request)),
    publicUrl,
    jwksProvider: createPublishedJwksProvider(pushService?.signer, options.cardSigning),
    assertRequestAllowed: (request) => {
      hostGuard.assertAllowed(request.authority);
      crossOriginGuard.assertAllowed(request);
    },
    handleOperation: composeOperationHandler(tenants && createTenantAcceptanceCheck(tenants), instrument),
    reportError,
    instrument,
  };
  return {
    store,
    instrument,
    otherNodeEvents,
    pushService,
    eventStreams,
    agents,
    hostGuard,
    operatorAuthenticator,
    stallWatch: new WriteStallWatch({ clock: systemClock, timeoutMs: writeStallMs, observer }),
    maxConnections: connections,
    routerContext,
  };
}

/**
 * Creates the function that converts each error of a server to the error that its caller receives. The observer receives
 * the errors that the caller has not caused, with the error id in the caller's message.
 */
function createErrorReporter(observer: Observer): UnknownToA2AErrorConverter {
  return (where, error) => {
    if (error instanceof A2AError && !isServerFault(error)) return error;
    const errorId = generateErrorId();
    observer.onError?.({ where, error, errorId });
    return error instanceof A2AError ? error : createInternalError(error, errorId);
  };
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

/** Throws an error if an option of the server needs an ability that the store does not have. */
function assertStoreSupportsOptions(
  { name, nodes, overview }: ServerStore,
  { role = "all", operator, textIndex }: Pick<ServerOptions, "role" | "operator" | "textIndex">,
): void {
  if (role !== "all" && !nodes)
    throw new Error(
      `"role" is ${JSON.stringify(role)}, but only one server can use the store ${name}; use a postgres:// store.`,
    );
  if (textIndex && !overview?.textIndex)
    throw new Error(
      `"textIndex" requires a store with a text index, which ${name} does not have; use the memory, SQLite, or PostgreSQL store.`,
    );
  if (operator && !overview)
    throw new Error(
      `"operator" requires a store that lists the tasks of all callers, which ${name} does not; use the memory, SQLite, or PostgreSQL store.`,
    );
}
