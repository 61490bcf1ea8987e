import { randomId, type AgentDescription, type Caller, type ServiceParameters } from "../../engine/index.ts";
import { A2AError, isStreaming, type OperationName } from "../../protocol/index.ts";
import { negotiateVersion, type Codec, type ProtocolVersion, type SpecRevision } from "../../wire/index.ts";
import { AuthRefusal, refusal } from "../auth/authentication.ts";
import { checkOffered } from "../capabilities.ts";
import { activateExtensions } from "../extensions.ts";
import type { HttpRequest } from "../exchange.ts";
import type { EventStreams, Told } from "./event-stream.ts";
import { checkInputModes } from "../input-modes.ts";
import { perform, type Outcome } from "../operations.ts";
import type { ServedAgent } from "../served-agent.ts";

/** What the bindings need to answer a request. */
export interface BindingContext {
  /** The protocol versions that are served. */
  readonly versions: readonly ProtocolVersion[];
  readonly revision: SpecRevision;
  readonly missingVersion: "0.3" | "infer";
  /** Gives messages that come without an id one. */
  readonly autoMessageId: boolean;
  /** Whether the simple dialect is served beside 0.3. */
  readonly simple: boolean;
  readonly maxBodyBytes: number;
  readonly streams: EventStreams;
  readonly told: Told;
}

/** What is read of a request beside its body. */
export type Asked = Pick<HttpRequest, "header" | "query" | "origin">;

/** A request that has been let in: for which agent, and from whom. */
export interface Admitted<R extends Asked = HttpRequest> {
  readonly request: R;
  readonly agent: ServedAgent;
  readonly caller: Caller;
}

const JSON_TYPES = new Set(["application/json", "application/a2a+json"]);

/**
 * Refuses a body that is not declared as JSON. Not a formality: a browser sends other types to foreign servers without
 * asking them first.
 */
export function checkContentType(request: HttpRequest): void {
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
  if (type !== undefined && JSON_TYPES.has(type)) return;
  const is = given ? `is ${JSON.stringify(given.slice(0, 80))}` : "has no Content-Type";
  const text = `The request body ${is}; send "Content-Type: application/json".`;
  throw new A2AError("CONTENT_TYPE_NOT_SUPPORTED", text);
}

/** The protocol version of a request (A2A §3.6.2). `shape`: the one that it looks like, where it names none. */
export function versionOf(
  request: Asked,
  { versions, missingVersion }: BindingContext,
  shape: ProtocolVersion | undefined,
): ProtocolVersion {
  const header = request.header("a2a-version");
  if (header === "1.0" && versions.includes(header)) return header;
  const query = request.query === "" ? null : new URLSearchParams(request.query).get("A2A-Version");
  return negotiateVersion({ header, query, supported: versions, missing: missingVersion, shape });
}

/** The version in whose words a request is refused that has not been read: the one that it says, where that is served. */
export function presumedVersion(
  request: Asked,
  context: BindingContext,
  shape: ProtocolVersion | undefined,
): ProtocolVersion {
  try {
    return versionOf(request, context, shape);
  } catch {
    return "1.0";
  }
}

/** What became of a request, and the extensions that were active for it; absent when none were. */
export type Carried = Outcome & { readonly activated?: readonly string[] };

/**
 * Decodes the parameters, as `codec` has them, and performs the operation: the part that all bindings and versions
 * share.
 */
export function carryOut(
  admitted: Admitted<Asked>,
  operation: OperationName,
  written: Written,
): Promise<Carried> {
  const { card } = admitted.agent;
  // Asked only once, so that a request does not wait for what is known.
  if (card.described) return begin(admitted, operation, written, card.described);
  return card.description().then((described) => begin(admitted, operation, written, described));
}

function begin(
  { request, agent, caller }: Admitted<Asked>,
  operation: OperationName,
  { codec, version, params, service }: Written,
  described: AgentDescription,
): Promise<Carried> {
  checkOffered(operation, described, version);
  const extensions = activateExtensions(described.capabilities?.extensions, request, version);
  const after = isStreaming(operation) ? resumePoint(request.header("last-event-id")) : undefined;
  const told: ServiceParameters = {
    version,
    extensions,
    traceparent: request.header("traceparent"),
    needsTask: service?.needsTask,
    after: after ?? service?.after,
  };
  const decoded = codec.decodeParams(operation, params);
  if ("message" in decoded) {
    if (decoded.configuration?.taskPushNotificationConfig)
      checkOffered("CreateTaskPushNotificationConfig", described, version);
    // That the two agree is a rule of 1.0 (A2A §3.4.1); in 0.3 a task is in its context, whatever a message says.
    if (version === "0.3" && decoded.message.taskId !== undefined) delete decoded.message.contextId;
    // The parts of a task that `tasks/create` makes were not written by the client.
    if (agent.inputModes === "enforce" && !service?.needsTask) checkInputModes(decoded.message, described);
  }
  const performed = perform(operation, agent, decoded, caller, told, request);
  return extensions.length === 0
    ? performed
    : performed.then((outcome) => ({ ...outcome, activated: extensions }));
}

/** Parameters as they came, and who can read them. */
export interface Written {
  readonly codec: Pick<Codec, "decodeParams">;
  readonly version: ProtocolVersion;
  readonly params: unknown;
  /** What the dialect asks of the engine where the request says nothing of it. */
  readonly service?: Pick<ServiceParameters, "after" | "needsTask">;
}

/** The parameters of a request; with `autoMessageId`, its message has an id even if it came without one. */
export function completed(params: unknown, { autoMessageId }: BindingContext): unknown {
  if (!autoMessageId || !isObject(params) || !isObject(params["message"])) return params;
  const { message } = params;
  if (message["messageId"] !== undefined || message["message_id"] !== undefined) return params;
  return { ...params, message: { ...message, messageId: randomId() } };
}

function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** The seq in a `Last-Event-ID` header. */
function resumePoint(lastEventId: string | undefined): number | undefined {
  if (lastEventId === undefined || lastEventId === "") return undefined;
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId);
  const description = `${JSON.stringify(lastEventId.slice(0, 40))} is no event id of this server; leave it out to begin with the task`;
  throw A2AError.invalidParams([{ field: "Last-Event-ID", description }]);
}

/** What an answer says of its keeping: the extended card is for one caller only (A2A §13.3). */
export function cacheHeaders(operation: OperationName): Record<string, string> | undefined {
  return operation === "GetExtendedAgentCard"
    ? { "cache-control": "private", vary: "Authorization" }
    : undefined;
}

/** Headers that a refusal carries beside its body. */
export function refusalHeaders(error: A2AError): Record<string, string> {
  const { reason, retryAfter } = error;
  const headers: Record<string, string> = {};
  if (error instanceof AuthRefusal) headers["www-authenticate"] = error.challenge;
  else if (reason === "UNAUTHENTICATED") headers["www-authenticate"] = refusal().challenge;
  if (retryAfter !== undefined) headers["retry-after"] = String(Math.ceil(retryAfter));
  return headers;
}
