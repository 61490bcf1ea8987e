import { explainMissingAwait } from "../base/usage-checks/index.ts";
import {
  assertKnownOptions,
  type ConnectOptions,
  createTransportOptions,
  createCardFetchOptions,
} from "./find-card.ts";
import { getMonotonicTimeMs } from "./clock.ts";
import { A2AError, type AgentCard, type AgentInterface } from "../protocol/index.ts";
import { createAuthorizer } from "./auth/authorizer.ts";
import { AgentCardCache, type FetchedCard } from "./card/fetch-card.ts";
import { chooseInterface, getProtocolVersion, isSupportedBinding } from "./choose-interface.ts";
import {
  findUnencryptedCredentialsError,
  findUntrustedOriginError,
  getInterfaceOrigin,
  type TrustedOrigins,
  withTransportCallHeadersRejected,
} from "./trusted-origins.ts";
import { discoverCard } from "./card/discover-card.ts";
import { addAutomaticExtensions, withRequestedExtensions } from "./negotiated-extensions.ts";
import { withAuthErrorDetails } from "./with-auth-error-details.ts";
import { withCloseDelayAfterFinalEvent } from "./stream/close-delay-after-final-event.ts";
import { resolveTimeouts, withCallDeadlines } from "./timeouts.ts";
import type { A2AClient } from "./a2a-client.ts";
import { createA2AClientFromTransport } from "./create-a2a-client.ts";
import { DEFAULT_MAX_TASK_BYTES } from "./stream/streamed-task-size.ts";
import { createTransport } from "./transport/create-transport.ts";
import type { ClientPlatform } from "./client-platform.ts";
import type { Transport } from "./transport/transport.ts";
import { withRecordOfTurn } from "./traffic/with-record-of-turn.ts";
import type { TrafficWriter } from "../observe/trace/recording/index.ts";
import { withTraceContext } from "./with-trace-context.ts";

/** Connects to an agent with the parts of the client for the runtime. */
export function connectOnPlatform(
  platform: ClientPlatform,
  url: string,
  options: ConnectOptions,
): Promise<A2AClient> {
  const { transport } = options.grpc ?? {};
  const client = connectToAgent(
    transport ? { ...platform, loadGrpcTransport: () => Promise.resolve(transport) } : platform,
    url,
    options,
  );
  return explainMissingAwait(client, "connect(…)", CLIENT_MEMBER_NAMES);
}

const CLIENT_MEMBER_NAMES = [
  "card",
  "cardUrl",
  "agentInterface",
  "ask",
  "send",
  "stream",
  "tasks",
  "getExtendedCard",
  "refreshCard",
] as const;

async function connectToAgent(
  platform: ClientPlatform,
  url: string,
  options: ConnectOptions,
): Promise<A2AClient> {
  assertKnownOptions(options);
  await platform.useRegisteredOpenTelemetry();
  const { auth, extensions: requestedExtensions = [], reconnect = {}, retry = {}, version = "1.0" } = options;
  const http = createTransportOptions(options);
  const source = createCardFetchOptions(http, options);
  const fetchedCard = await discoverCard(source, url, options.signal);
  const agentInterface = await chooseInterfaceByTrust(platform, fetchedCard, options);
  assertRequiredExtensions(fetchedCard.card, requestedExtensions);
  const extensions = addAutomaticExtensions(requestedExtensions, fetchedCard.card);
  const interfaceOrigin = getInterfaceOrigin(agentInterface);
  const credentialsError = findCredentialsError(agentInterface, fetchedCard.url, options);
  if (credentialsError && hasCredentials(options)) throw credentialsError;
  const authorizer = auth && {
    authorizer: createAuthorizer(fetchedCard.card, {
      auth,
      secretOrigins: [
        interfaceOrigin,
        new URL(fetchedCard.url).origin,
        ...(options.trustedOrigins === "any" ? [] : (options.trustedOrigins ?? [])),
      ],
      fetch: http.fetch,
      monotonicNow: getMonotonicTimeMs,
    }),
  };
  const plainTransport = await createTransport(
    agentInterface,
    { ...http, ...authorizer, extensions, version: getProtocolVersion(agentInterface) ?? version },
    () => platform.loadGrpcTransport(),
  );
  const createRecordedTransport = async (writer: TrafficWriter): Promise<Transport> => {
    const { withTrafficRecord } = await import("./traffic/with-traffic-record.ts");
    return withTrafficRecord(plainTransport, writer, fetchedCard, agentInterface);
  };
  const recordedTransport =
    options.record === undefined
      ? withRecordOfTurn(plainTransport, createRecordedTransport)
      : await createRecordedTransport(
          await platform.openTrafficRecord(options.record, fetchedCard.card.name),
        );
  const transport = withTraceContext(recordedTransport, {
    card: fetchedCard.card,
    agentInterface,
    extensions,
  });
  const guardedTransport = credentialsError
    ? withTransportCallHeadersRejected(transport, credentialsError)
    : transport;
  const delayedTransport =
    transport.version === "0.3"
      ? withCloseDelayAfterFinalEvent(guardedTransport, reconnect)
      : guardedTransport;
  const timedTransport = withCallDeadlines(delayedTransport, resolveTimeouts(options.timeouts));
  const extendedTransport = withRequestedExtensions(timedTransport, extensions);
  return createA2AClientFromTransport({
    cardCache: new AgentCardCache(source, fetchedCard),
    agentInterface,
    transport: auth ? extendedTransport : withAuthErrorDetails(extendedTransport, fetchedCard.card),
    reconnect,
    maxTaskBytes: options.maxTaskBytes ?? DEFAULT_MAX_TASK_BYTES,
    retry,
  });
}

/**
 * Chooses an interface. If the client has credentials, an interface that may receive them takes precedence over
 * other interfaces of the same protocol version.
 */
async function chooseInterfaceByTrust(
  platform: ClientPlatform,
  { card, url }: FetchedCard,
  options: ConnectOptions,
): Promise<AgentInterface> {
  const preferred = await chooseInterfaceByGrpcAvailability(platform, card, options);
  const trustedOrigins = getTrustedOrigins(options);
  const mayReceiveCredentials = (candidate: AgentInterface): boolean =>
    findUntrustedOriginError(candidate, url, trustedOrigins) === undefined;
  if (!hasCredentials(options) || mayReceiveCredentials(preferred)) return preferred;
  const supportedInterfaces = card.supportedInterfaces.filter(
    (candidate) =>
      getProtocolVersion(candidate) === getProtocolVersion(preferred) &&
      isSupportedBinding(candidate.protocolBinding) &&
      mayReceiveCredentials(candidate),
  );
  if (supportedInterfaces.length === 0) return preferred;
  return chooseInterfaceByGrpcAvailability(platform, { ...card, supportedInterfaces }, options).catch(
    () => preferred,
  );
}

/** Returns whether `connect` has options whose values only a trusted agent may receive. */
function hasCredentials({ auth, headers = {} }: ConnectOptions): boolean {
  return auth !== undefined || Object.keys(headers).length > 0;
}

/** A card that `verifyCard` has accepted names only trusted origins. */
function getTrustedOrigins({ trustedOrigins = [], verifyCard }: ConnectOptions): TrustedOrigins {
  return verifyCard ? "any" : trustedOrigins;
}

/** Returns the reason why an interface must not receive credentials, or `undefined` if it may receive them. */
function findCredentialsError(
  agentInterface: AgentInterface,
  cardUrl: string,
  options: ConnectOptions,
): A2AError | undefined {
  const clearTextError = options.allowClearText
    ? undefined
    : findUnencryptedCredentialsError(agentInterface, cardUrl, options.grpc);
  return clearTextError ?? findUntrustedOriginError(agentInterface, cardUrl, getTrustedOrigins(options));
}

/** Chooses an interface. The gRPC packages are loaded only if gRPC is the preferred protocol binding. */
async function chooseInterfaceByGrpcAvailability(
  platform: ClientPlatform,
  card: AgentCard,
  options: ConnectOptions,
): Promise<AgentInterface> {
  const preferred = chooseInterface(card, options);
  const isRequested = options.binding !== undefined || options.preferredBindings?.includes("GRPC") === true;
  if (preferred.protocolBinding !== "GRPC" || isRequested) return preferred;
  const mayUseGrpc = options.fetch === undefined || options.grpc !== undefined;
  if (mayUseGrpc && (await isGrpcAvailable(platform))) return preferred;
  return chooseInterface(card, { ...options, avoidBinding: "GRPC" });
}

function isGrpcAvailable(platform: ClientPlatform): Promise<boolean> {
  return platform.loadGrpcTransport().then(
    () => true,
    () => false,
  );
}

/**
 * Throws if the agent requires an extension that the caller does not support, because the agent would reject
 * every request (A2A §4.6).
 */
function assertRequiredExtensions({ name, capabilities }: AgentCard, supportedUris: readonly string[]): void {
  const missing = (capabilities.extensions ?? []).filter(
    ({ uri, required }) => required && !supportedUris.includes(uri),
  );
  if (missing.length === 0) return;
  const uris = missing.map(({ uri }) => uri);
  const message = `${JSON.stringify(name)} requires extensions. If you support them, set { extensions: ${JSON.stringify(uris)} }.`;
  throw new A2AError("EXTENSION_SUPPORT_REQUIRED", message);
}
