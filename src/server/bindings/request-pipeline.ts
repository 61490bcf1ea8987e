import {
  generateUuidV7,
  type AgentDescription,
  type Caller,
  type ServiceParameters,
} from "../../engine/index.ts";
import { A2AError, isStreamingOperation, type OperationName } from "../../protocol/index.ts";
import {
  negotiateVersion,
  type OperationCodec,
  type ProtocolVersion,
  type SpecRevision,
} from "../../wire/index.ts";
import { AuthChallengeError, createUnauthenticatedError } from "../auth/authenticator.ts";
import { assertOperationSupported } from "../capabilities.ts";
import { activateExtensions } from "../extensions.ts";
import type { HttpRequest } from "../http-exchange.ts";
import type { EventStreamRegistry, ErrorReporter } from "./event-stream.ts";
import { assertAcceptedInputModes } from "../input-modes.ts";
import { performOperation, type OperationOutcome } from "../operations.ts";
import type { ServedAgent } from "../served-agent.ts";

/** What the bindings need to answer a request. */
export interface BindingContext {
  /** The protocol versions that are served. */
  readonly versions: readonly ProtocolVersion[];
  readonly specRevision: SpecRevision;
  readonly missingVersionPolicy: "0.3" | "infer";
  /** Gives messages that come without an id one. */
  readonly autoMessageId: boolean;
  /** Whether the simple dialect is served beside 0.3. */
  readonly simpleDialect: boolean;
  readonly maxBodyBytes: number;
  readonly eventStreams: EventStreamRegistry;
  readonly reportError: ErrorReporter;
}

/** What is read of a request beside its body. */
export type RequestHead = Pick<HttpRequest, "header" | "query" | "origin">;

/** A request that has been let in: for which agent, and from whom. */
export interface AuthenticatedRequest<R extends RequestHead = HttpRequest> {
  readonly request: R;
  readonly agent: ServedAgent;
  readonly caller: Caller;
}

const JSON_MEDIA_TYPES = new Set(["application/json", "application/a2a+json"]);

/**
 * Refuses a body that is not declared as JSON. Not a formality: a browser sends other types to foreign servers without
 * asking them first.
 */
export function assertJsonContentType(request: HttpRequest): void {
  const encoding = request.header("content-encoding");
  if (encoding !== undefined && encoding !== "identity") {
    throw new A2AError(
      "CONTENT_TYPE_NOT_SUPPORTED",
      `The request body is encoded as ${encoding}; send it as it is.`,
    );
  }
  const given = request.header("content-type");
  if (given === "application/json") return;
  const type = given?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== undefined && JSON_MEDIA_TYPES.has(type)) return;
  const is = given ? `is ${JSON.stringify(given.slice(0, 80))}` : "has no Content-Type";
  const text = `The request body ${is}; send "Content-Type: application/json".`;
  throw new A2AError("CONTENT_TYPE_NOT_SUPPORTED", text);
}

/** The protocol version of a request (A2A §3.6.2). `shape`: the one that it looks like, where it names none. */
export function resolveProtocolVersion(
  request: RequestHead,
  { versions, missingVersionPolicy: missingVersion }: BindingContext,
  shape: ProtocolVersion | undefined,
): ProtocolVersion {
  const header = request.header("a2a-version");
  if (header === "1.0" && versions.includes(header)) return header;
  const query = request.query === "" ? null : new URLSearchParams(request.query).get("A2A-Version");
  return negotiateVersion({
    header,
    query,
    supported: versions,
    whenMissing: missingVersion,
    inferredVersion: shape,
  });
}

/** The version in whose words a request is refused that has not been read: the one that it says, where that is served. */
export function resolveErrorReplyVersion(
  request: RequestHead,
  context: BindingContext,
  shape: ProtocolVersion | undefined,
): ProtocolVersion {
  try {
    return resolveProtocolVersion(request, context, shape);
  } catch {
    return "1.0";
  }
}

/** What became of a request, and the extensions that were active for it; absent when none were. */
export type OperationReply = OperationOutcome & { readonly activatedExtensions?: readonly string[] };

/**
 * Decodes the parameters, as `codec` has them, and performs the operation: the part that all bindings and versions
 * share.
 */
export function handleOperation(
  admitted: AuthenticatedRequest<RequestHead>,
  operation: OperationName,
  written: EncodedParams,
): Promise<OperationReply> {
  const { cardPublisher: card } = admitted.agent;
  // Asked only once, so that a request does not wait for what is known.
  if (card.cachedDescription) return decodeAndPerform(admitted, operation, written, card.cachedDescription);
  return card.getDescription().then((described) => decodeAndPerform(admitted, operation, written, described));
}

function decodeAndPerform(
  { request, agent, caller }: AuthenticatedRequest<RequestHead>,
  operation: OperationName,
  { codec, version, params, serviceDefaults: service }: EncodedParams,
  described: AgentDescription,
): Promise<OperationReply> {
  assertOperationSupported(operation, described, version);
  const extensions = activateExtensions(described.capabilities?.extensions, request, version);
  const after = isStreamingOperation(operation)
    ? parseLastEventId(request.header("last-event-id"))
    : undefined;
  const told: ServiceParameters = {
    version,
    extensions,
    traceparent: request.header("traceparent"),
    needsTask: service?.needsTask,
    resumeAfterSeq: after ?? service?.resumeAfterSeq,
  };
  const decoded = codec.decodeParams(operation, params);
  if ("message" in decoded) {
    if (decoded.configuration?.taskPushNotificationConfig)
      assertOperationSupported("CreateTaskPushNotificationConfig", described, version);
    // That the two agree is a rule of 1.0 (A2A §3.4.1); in 0.3 a task is in its context, whatever a message says.
    if (version === "0.3" && decoded.message.taskId !== undefined) delete decoded.message.contextId;
    // The parts of a task that `tasks/create` makes were not written by the client.
    if (agent.inputModePolicy === "enforce" && !service?.needsTask)
      assertAcceptedInputModes(decoded.message, described);
  }
  const performed = performOperation(operation, agent, decoded, caller, told, request);
  return extensions.length === 0
    ? performed
    : performed.then((outcome) => ({ ...outcome, activated: extensions }));
}

/** Parameters as they came, and who can read them. */
export interface EncodedParams {
  readonly codec: Pick<OperationCodec, "decodeParams">;
  readonly version: ProtocolVersion;
  readonly params: unknown;
  /** What the dialect asks of the engine where the request says nothing of it. */
  readonly serviceDefaults?: Pick<ServiceParameters, "resumeAfterSeq" | "needsTask">;
}

/** The parameters of a request; with `autoMessageId`, its message has an id even if it came without one. */
export function ensureMessageId(params: unknown, { autoMessageId }: BindingContext): unknown {
  if (!autoMessageId || !isObject(params) || !isObject(params["message"])) return params;
  const { message } = params;
  if (message["messageId"] !== undefined || message["message_id"] !== undefined) return params;
  return { ...params, message: { ...message, messageId: generateUuidV7() } };
}

function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** The seq in a `Last-Event-ID` header. */
function parseLastEventId(lastEventId: string | undefined): number | undefined {
  if (lastEventId === undefined || lastEventId === "") return undefined;
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId);
  const description = `${JSON.stringify(lastEventId.slice(0, 40))} is no event id of this server; leave it out to begin with the task`;
  throw A2AError.invalidParams([{ field: "Last-Event-ID", description }]);
}

/** What an answer says of its keeping: the extended card is for one caller only (A2A §13.3). */
export function buildCacheHeaders(operation: OperationName): Record<string, string> | undefined {
  return operation === "GetExtendedAgentCard"
    ? { "cache-control": "private", vary: "Authorization" }
    : undefined;
}

/** Headers that a refusal carries beside its body. */
export function buildErrorHeaders(error: A2AError): Record<string, string> {
  const { reason, retryAfter } = error;
  const headers: Record<string, string> = {};
  if (error instanceof AuthChallengeError) headers["www-authenticate"] = error.challenge;
  else if (reason === "UNAUTHENTICATED") headers["www-authenticate"] = createUnauthenticatedError().challenge;
  if (retryAfter !== undefined) headers["retry-after"] = String(Math.ceil(retryAfter));
  return headers;
}
