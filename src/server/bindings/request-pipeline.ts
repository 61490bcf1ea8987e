import {
  generateUuidV7,
  type AgentDescription,
  type Caller,
  type ServiceParameters,
  createPushNotSupportedError,
} from "../../engine/index.ts";
import {
  A2AError,
  isObject,
  isStreamingOperation,
  type OperationName,
  findIdViolation,
  type FieldViolation,
  type Operations,
} from "../../protocol/index.ts";
import {
  negotiateVersion,
  type OperationCodec,
  type PeerLeniency,
  type ProtocolVersion,
  type SpecPatchVersion,
} from "../../wire/index.ts";
import {
  type TenantAcceptanceCheck,
  composePerformOperation,
  type OperationPerformer,
} from "../perform-operation.ts";
import { authenticateCaller, AuthChallengeError, createUnauthenticatedError } from "../auth/authenticator.ts";
import type { AuthenticateFunction } from "../auth/auth-scheme.ts";
import {
  activateExtensions,
  buildExtensionHeaders,
  isServerExtension,
  selectServerExtensions,
} from "../server-extensions.ts";
import type { ByteLedger } from "../byte-ledger/byte-ledger.ts";
import { type HttpRequest, type RequestMetadata, MethodNotAllowedError } from "../http-exchange.ts";
import type { EventStreamRegistry, UnknownToA2AErrorConverter } from "./event-stream.ts";
import { assertAcceptedInputModes } from "../input-modes.ts";
import {
  type OperationResultOrStream,
  type OperationWatch,
  type OperationWatcher,
  type RequestInstrument,
  watchOperation,
} from "../instrument/operation-watch.ts";
import type { ServedAgent } from "../served-agent.ts";
import type { CardOfSpan } from "../../observe/telemetry/index.ts";

/** Server settings and services that the protocol bindings use to handle a request. */
export interface BindingContext {
  /** A2A versions that the server accepts. */
  readonly versions: readonly ProtocolVersion[];
  readonly specRevision: SpecPatchVersion;
  readonly missingVersionPolicy: "0.3" | "infer";
  /** Whether the server accepts requests of real peers that the specification forbids. */
  readonly peerLeniency: PeerLeniency;
  /** Whether the server assigns an id to a message without a `messageId`. */
  readonly autoMessageId: boolean;
  /** Whether the server accepts requests in the simple dialect as well as in A2A 0.3. */
  readonly simpleDialect: boolean;
  /** Maximum size of a request body, in bytes. */
  readonly maxBodyBytes: number;
  /** Accounts for unfinished request bodies and unread responses of all bindings. */
  readonly byteLedger: ByteLedger;
  /** Maximum number of JSON values and member names in a request. */
  readonly maxJsonValues: number;
  readonly eventStreams: EventStreamRegistry;
  /** Authenticates a request. The server has no `authenticate` function if all requests are anonymous. */
  readonly authenticate: AuthenticateFunction | undefined;
  readonly handleOperation: OperationHandler;
  readonly reportError: UnknownToA2AErrorConverter;
  readonly instrument: RequestInstrument;
}

/**
 * Length in characters from which the message of a request is measured, instead of counted by the length of its body. A
 * body can be several times longer than its message, for example because of escaped characters.
 */
const MIN_MEASURED_BODY_LENGTH = 64 * 1024;

/** An authenticated request, with its caller and the agent that it addresses. */
export interface AuthenticatedRequest<R extends RequestMetadata = HttpRequest> {
  readonly request: R;
  readonly agent: ServedAgent;
  readonly caller: Caller;
}

/** Authenticates the caller of a request, before the server reads the body. */
export async function authenticateRequest(
  request: HttpRequest,
  agent: ServedAgent,
  { authenticate }: BindingContext,
): Promise<AuthenticatedRequest> {
  const caller = await authenticateCaller(request, authenticate);
  request.byteAccount?.assignToCaller(caller);
  return { request, agent, caller };
}

/**
 * Returns the A2A version of a request (A2A §3.6.2). The parameter `inferredVersion` is the A2A version that
 * the path or body of the request suggests.
 */
export function resolveProtocolVersion(
  request: RequestMetadata,
  { versions, missingVersionPolicy }: BindingContext,
  inferredVersion: ProtocolVersion | undefined,
): ProtocolVersion {
  const header = request.header("a2a-version");
  if (header === "1.0" && versions.includes(header)) return header;
  const query = request.query === "" ? null : new URLSearchParams(request.query).get("A2A-Version");
  return negotiateVersion({
    header,
    query,
    supported: versions,
    whenMissing: missingVersionPolicy,
    inferredVersion,
  });
}

/**
 * Returns the A2A version of the error reply to a request that cannot be parsed. Returns A2A version 1.0 if
 * the server does not support the requested A2A version.
 */
export function resolveErrorReplyVersion(
  request: RequestMetadata,
  context: BindingContext,
  inferredVersion: ProtocolVersion | undefined,
): ProtocolVersion {
  try {
    return resolveProtocolVersion(request, context, inferredVersion);
  } catch {
    return "1.0";
  }
}

/** The encoded parameters of an operation, with the codec that decodes the parameters. */
interface EncodedOperationParamsWithCodec {
  readonly codec: Pick<OperationCodec, "decodeParams">;
  readonly version: ProtocolVersion;
  /** Protocol binding of the request, for the traffic record. */
  readonly binding: "JSONRPC" | "HTTP+JSON" | "GRPC";
  readonly params: unknown;
  /** Length of the request body in characters, if the binding knows it. */
  readonly bodyLength?: number | undefined;
  /** Default: `all`. */
  readonly peerLeniency?: PeerLeniency;
  /** Whether the server assigns an id to a message without a `messageId`. Default: false. */
  readonly autoMessageId?: boolean;
  /** Default values for service parameters that the request does not contain. */
  readonly serviceDefaults?: Pick<ServiceParameters, "resumeAfterSeq" | "needsTask" | "endsAtInputRequest">;
}

/**
 * The outcome of an operation, with response headers. The headers list the active extensions. The member
 * `headers` is absent if no extension is active.
 */
type OperationResultOrStreamWithHeaders = OperationResultOrStream & {
  readonly headers?: Readonly<Record<string, string>>;
};

/**
 * Decodes the parameters of an operation and performs the operation, for all protocol bindings and A2A versions.
 */
type OperationHandler = (
  authenticated: AuthenticatedRequest<RequestMetadata>,
  operation: OperationName,
  encoded: EncodedOperationParamsWithCodec,
) => Promise<OperationResultOrStreamWithHeaders>;

/**
 * Composes the steps of an operation once: load the description, decode, check, and perform. An absent check and an
 * instrument without watchers are not called.
 */
export function composeOperationHandler(
  assertTenantServed: TenantAcceptanceCheck | undefined,
  { operationWatchers }: Pick<RequestInstrument, "operationWatchers">,
): OperationHandler {
  const perform = composePerformOperation(assertTenantServed);
  const decode: WatchedOperationHandler = (authenticated, operation, encoded, watches) => {
    const description = authenticated.agent.cardPublisher.loadDescription();
    return description instanceof Promise
      ? description.then((loaded) =>
          decodeAndPerform(perform, authenticated, operation, encoded, loaded, watches),
        )
      : decodeAndPerform(perform, authenticated, operation, encoded, description, watches);
  };
  const watch: WatchedOperationHandler<CardOfSpan> = (authenticated, operation, encoded, card) => {
    const { request, agent, caller } = authenticated;
    const { binding, version, params } = encoded;
    const started = { operation, binding, version, params, request, agentId: agent.id, card, caller };
    const watches = operationWatchers.filter(isActive).map((watcher) => watcher.start(started));
    return watchOperation(watches, () => decode(authenticated, operation, encoded, watches));
  };
  return (authenticated, operation, encoded) => {
    if (!operationWatchers.some(isActive)) return decode(authenticated, operation, encoded, NO_WATCHES);
    const { id, cardPublisher } = authenticated.agent;
    const description = cardPublisher.loadDescription();
    if (!(description instanceof Promise)) return watch(authenticated, operation, encoded, description);
    // The operation itself fails if the description cannot be loaded.
    const loadCard = description.catch(() => ({ name: id }));
    return loadCard.then((card) => watch(authenticated, operation, encoded, card));
  };
}

type WatchedOperationHandler<Watching = readonly OperationWatch[]> = (
  ...args: [...Parameters<OperationHandler>, Watching]
) => ReturnType<OperationHandler>;

const NO_WATCHES: readonly OperationWatch[] = [];

function isActive(watcher: OperationWatcher): boolean {
  return watcher.isActive;
}

function hasTraceparent({ traceparent }: OperationWatch): boolean {
  return traceparent !== undefined;
}

function decodeAndPerform(
  perform: OperationPerformer,
  { request, agent, caller }: AuthenticatedRequest<RequestMetadata>,
  operation: OperationName,
  encoded: EncodedOperationParamsWithCodec,
  description: AgentDescription,
  watches: readonly OperationWatch[],
): Promise<OperationResultOrStreamWithHeaders> {
  const { codec, version, params, bodyLength, peerLeniency, autoMessageId, serviceDefaults } = encoded;
  assertOperationSupported(operation, description, version);
  const extensions = activateExtensions(description.capabilities?.extensions, request, version);
  const serverExtensions = selectServerExtensions(extensions);
  const lastEventSeq = isStreamingOperation(operation)
    ? (serverExtensions.findAfterSeq(params) ?? parseLastEventId(request.header("last-event-id")))
    : undefined;
  const service: ServiceParameters = {
    version,
    extensions: extensions.length === 0 ? extensions : extensions.filter((uri) => !isServerExtension(uri)),
    includesMessages: serverExtensions.includesMessages,
    steering: serverExtensions.parseSteeringSignal(params),
    traceparent: request.header("traceparent"),
    tracestate: request.header("tracestate"),
    requestTraceparent: watches.find(hasTraceparent)?.traceparent,
    parentTask: serverExtensions.findParentTask(params),
    needsTask: serviceDefaults?.needsTask,
    endsAtInputRequest: serviceDefaults?.endsAtInputRequest,
    resumeAfterSeq: lastEventSeq ?? serviceDefaults?.resumeAfterSeq,
    requestSize: bodyLength !== undefined && bodyLength < MIN_MEASURED_BODY_LENGTH ? bodyLength : undefined,
  };
  const decoded = codec.decodeParams(
    operation,
    autoMessageId ? ensureMessageId(params) : params,
    peerLeniency,
  );
  assertValidIds(operation, decoded);
  for (const watch of watches) watch.onParams?.(decoded);
  if ("message" in decoded) {
    if (decoded.configuration?.taskPushNotificationConfig)
      assertOperationSupported("CreateTaskPushNotificationConfig", description, version);
    // Only 1.0 requires the `contextId` of a message to match its task (A2A §3.4.1). For 0.3, the task's
    // context applies.
    if (version === "0.3" && decoded.message.taskId !== undefined) delete decoded.message.contextId;
    // The server, not the client, writes the parts of a task that `tasks/create` makes.
    if (agent.inputModePolicy === "enforce" && !serviceDefaults?.needsTask)
      assertAcceptedInputModes(decoded.message, description);
  }
  const outcome = perform(operation, agent, decoded, caller, service, request);
  if (extensions.length === 0) return outcome;
  const headers = buildExtensionHeaders(extensions, version);
  return outcome.then((completed) => ({
    ...serverExtensions.annotateOutcome(completed, service.resumeAfterSeq),
    headers,
  }));
}

/** Adds a generated `messageId` to a message without a `messageId`. */
function ensureMessageId(params: unknown): unknown {
  if (!isObject(params) || !isObject(params["message"])) return params;
  const { message } = params;
  if (message["messageId"] !== undefined || message["message_id"] !== undefined) return params;
  return { ...params, message: { ...message, messageId: generateUuidV7() } };
}

/**
 * Returns the sequence number in a `Last-Event-ID` header. Throws INVALID_PARAMS if the header is not a
 * sequence number.
 */
function parseLastEventId(lastEventId: string | undefined): number | undefined {
  if (lastEventId === undefined || lastEventId === "") return undefined;
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId);
  const id = JSON.stringify(lastEventId.slice(0, 40));
  const description = `${id} is not an event id of this server; omit the header to start with the current task`;
  throw A2AError.invalidParams([{ field: "Last-Event-ID", description }]);
}

/**
 * Returns the cache headers for an extended agent card. Caches must not serve an extended card to other
 * callers (A2A §13.3).
 */
export function buildExtendedCardCacheHeaders(operation: OperationName): Record<string, string> | undefined {
  return operation === "GetExtendedAgentCard"
    ? { "cache-control": "private", vary: "Authorization" }
    : undefined;
}

/**
 * Returns the headers of an error reply, which can include `WWW-Authenticate`, `Allow`, and `Retry-After`.
 */
export function buildErrorHeaders(error: A2AError): Record<string, string> {
  const { reason, retryAfter } = error;
  const headers: Record<string, string> = {};
  if (error instanceof AuthChallengeError) headers["www-authenticate"] = error.challenge;
  else if (reason === "UNAUTHENTICATED") headers["www-authenticate"] = createUnauthenticatedError().challenge;
  else if (error instanceof MethodNotAllowedError) headers["allow"] = error.allowedMethods.join(", ");
  if (retryAfter !== undefined) headers["retry-after"] = String(Math.ceil(retryAfter));
  return headers;
}

/** Parameters of an operation, with the members that can be ids. */
type OperationParams = Operations[OperationName]["params"];

/**
 * Throws INVALID_PARAMS if an id in the parameters of an operation is too long or has control characters. The
 * server generates the ids of tasks, so other operations need no exception for long ids. A store of an older
 * version of Colloquy may contain long ids of contexts and webhooks. Operations that only find a context or a
 * webhook therefore accept every id.
 */
function assertValidIds(operation: OperationName, params: OperationParams): void {
  const violations: FieldViolation[] = [];
  const check = (field: string, id: string | undefined): void => {
    const description = id === undefined ? undefined : findIdViolation(id);
    if (description !== undefined) violations.push({ field, description });
  };
  check("tenant", params.tenant);
  if ("message" in params) {
    const { messageId, taskId, contextId, referenceTaskIds } = params.message;
    check("message.messageId", messageId);
    check("message.taskId", taskId);
    check("message.contextId", contextId);
    if (referenceTaskIds)
      for (const [index, id] of referenceTaskIds.entries()) check(`message.referenceTaskIds[${index}]`, id);
    check(
      "configuration.taskPushNotificationConfig.id",
      params.configuration?.taskPushNotificationConfig?.id,
    );
  } else {
    if ("taskId" in params) check("taskId", params.taskId);
    if ("id" in params && !OPERATIONS_ON_STORED_WEBHOOKS.has(operation)) check("id", params.id);
  }
  if (violations.length > 0) throw A2AError.invalidParams(violations);
}

/** Operations whose `id` is the id of an existing webhook. */
const OPERATIONS_ON_STORED_WEBHOOKS: ReadonlySet<OperationName> = new Set<OperationName>([
  "GetTaskPushNotificationConfig",
  "DeleteTaskPushNotificationConfig",
]);

/**
 * Throws an error if an operation requires a capability that the agent card does not declare (A2A §3.3.4).
 * The server checks capabilities before it decodes the parameters of an operation.
 */
function assertOperationSupported(
  operation: OperationName,
  { capabilities = {} }: AgentDescription,
  version: ProtocolVersion,
): void {
  if (isStreamingOperation(operation) && capabilities.streaming !== true) {
    throw new A2AError(
      "UNSUPPORTED_OPERATION",
      "This agent does not support streaming; use SendMessage and GetTask.",
    );
  }
  if (PUSH_OPERATIONS.has(operation) && capabilities.pushNotifications !== true)
    throw createPushNotSupportedError();
  if (operation === "GetExtendedAgentCard" && capabilities.extendedAgentCard !== true) {
    // 0.3 defines only this error for a missing extended card.
    const reason = version === "0.3" ? "EXTENDED_AGENT_CARD_NOT_CONFIGURED" : "UNSUPPORTED_OPERATION";
    throw new A2AError(reason, "This agent has no extended card; use its public card.");
  }
}

const PUSH_OPERATIONS: ReadonlySet<OperationName> = new Set([
  "CreateTaskPushNotificationConfig",
  "GetTaskPushNotificationConfig",
  "ListTaskPushNotificationConfigs",
  "DeleteTaskPushNotificationConfig",
]);
