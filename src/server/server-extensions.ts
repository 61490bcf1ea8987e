import type { Agent, ServiceParameters, Subscription } from "../engine/index.ts";
import {
  A2AError,
  addEventPosition,
  addTaskGeneration,
  AGENT_STEERING_EXTENSION_URI,
  findAfterGeneration,
  IDEMPOTENT_SEND_EXTENSION_URI,
  isObject,
  LogEvent,
  MESSAGE_EVENTS_EXTENSION_URI,
  PARENT_TASK_EXTENSION_URI,
  STEERING_SIGNAL_KEY,
  STREAM_CURSOR_EXTENSION_URI,
  toMessageStatusUpdate,
  type AgentCapabilities,
  type AgentExtension,
  type Task,
} from "../protocol/index.ts";
import { findParentTask } from "../observe/telemetry/index.ts";
import { hookSubscription, type OperationResultOrStream } from "./instrument/operation-watch.ts";
import type { ProtocolVersion } from "../wire/index.ts";

const SERVER_EXTENSION_URIS: ReadonlySet<string> = new Set([
  STREAM_CURSOR_EXTENSION_URI,
  IDEMPOTENT_SEND_EXTENSION_URI,
  AGENT_STEERING_EXTENSION_URI,
  MESSAGE_EVENTS_EXTENSION_URI,
  PARENT_TASK_EXTENSION_URI,
]);

/** Returns true if the server implements the extension, so that the agent does not need its URI. */
export function isServerExtension(uri: string): boolean {
  return SERVER_EXTENSION_URIS.has(uri);
}

/**
 * Returns the extensions of an agent, followed by the extensions that the server implements for the agent. An
 * agent's own declaration of an extension takes precedence.
 */
export function addServerExtensions(
  { streaming, extensions = [] }: AgentCapabilities,
  agent: Agent,
  { deduplicatesMessages }: { readonly deduplicatesMessages?: boolean },
): AgentExtension[] {
  const steering = {
    ...(agent.deliver ? { steerable: true } : {}),
    ...(agent.interruptible ? { interruptible: true } : {}),
  };
  const offered: AgentExtension[] = [];
  if (streaming)
    offered.push(
      { uri: STREAM_CURSOR_EXTENSION_URI, description: "Numbers the events of a task, and resumes streams" },
      { uri: MESSAGE_EVENTS_EXTENSION_URI, description: "Streams the messages of a task's users" },
    );
  // A reply without a task is not stored, so a repeated message would run the agent again.
  if (deduplicatesMessages && agent.respondsWith !== "either")
    offered.push({ uri: IDEMPOTENT_SEND_EXTENSION_URI, description: "Accepts each messageId once" });
  offered.push({ uri: PARENT_TASK_EXTENSION_URI, description: "Accepts the task of a calling agent" });
  if (Object.keys(steering).length > 0)
    offered.push({
      uri: AGENT_STEERING_EXTENSION_URI,
      description: "Accepts messages while the agent is working",
      params: steering,
    });
  const declared = new Set(extensions.map(({ uri }) => uri));
  return [...extensions, ...offered.filter(({ uri }) => !declared.has(uri))];
}

/** Returns the server's own extensions among the active extensions of a request. */
export function selectServerExtensions(activeUris: readonly string[]): ActiveServerExtensions {
  return activeUris.length === 0 ? NO_SERVER_EXTENSIONS : new ActiveServerExtensions(activeUris);
}

/** The server's own extensions that are active for one request. */
class ActiveServerExtensions {
  readonly includesMessages: boolean;
  readonly #hasCursor: boolean;
  readonly #hasSteering: boolean;
  readonly #hasParentTask: boolean;

  constructor(activeUris: readonly string[]) {
    this.includesMessages = activeUris.includes(MESSAGE_EVENTS_EXTENSION_URI);
    this.#hasCursor = activeUris.includes(STREAM_CURSOR_EXTENSION_URI);
    this.#hasSteering = activeUris.includes(AGENT_STEERING_EXTENSION_URI);
    this.#hasParentTask = activeUris.includes(PARENT_TASK_EXTENSION_URI);
  }

  /**
   * Returns the sequence number in the metadata of a stream request, after which the stream continues. Throws
   * INVALID_PARAMS if the value is not a sequence number.
   */
  findAfterSeq(params: unknown): number | undefined {
    if (!this.#hasCursor || !isObject(params)) return undefined;
    const seq = findAfterGeneration(params["metadata"]);
    if (seq !== "invalid") return seq;
    const description = "afterGeneration must be a whole number that the stream has sent as generation";
    throw A2AError.invalidParams([{ field: "metadata", description }]);
  }

  /** Returns the steering signal of a message. Throws INVALID_PARAMS if the signal is unknown. */
  parseSteeringSignal(params: unknown): ServiceParameters["steering"] {
    if (!this.#hasSteering) return undefined;
    const metadata = findMessageMetadata(params);
    const signal = isObject(metadata) ? metadata[STEERING_SIGNAL_KEY] : undefined;
    if (signal === undefined || signal === "steer" || signal === "interrupt") return signal;
    const description = `the steering signal must be "steer" or "interrupt", not ${JSON.stringify(signal).slice(0, 80)}`;
    throw A2AError.invalidParams([{ field: "message.metadata", description }]);
  }

  /** Returns the task of the agent that sends a message, as the caller states. */
  findParentTask(params: unknown): ServiceParameters["parentTask"] {
    return this.#hasParentTask ? findParentTask(findMessageMetadata(params)) : undefined;
  }

  /** Adds the metadata of the active extensions to a result or stream. */
  annotateOutcome(
    outcome: OperationResultOrStream,
    resumeAfterSeq: number | undefined,
  ): OperationResultOrStream {
    if ("stream" in outcome) {
      if (!this.#hasCursor && !this.includesMessages) return outcome;
      return { stream: extendSubscription(outcome.stream, this.#hasCursor, resumeAfterSeq) };
    }
    const { result, seq } = outcome;
    if (!this.#hasCursor || seq === undefined || !isTask(result)) return outcome;
    return { result: addTaskGeneration(result, seq) };
  }
}

function findMessageMetadata(params: unknown): unknown {
  const message = isObject(params) ? params["message"] : undefined;
  return isObject(message) ? message["metadata"] : undefined;
}

const NO_SERVER_EXTENSIONS = new ActiveServerExtensions([]);

function isTask(result: object): result is Task {
  return "id" in result && "contextId" in result && "status" in result;
}

/**
 * Returns a subscription whose events carry the metadata of the stream cursor and message events extensions. All
 * readers of a task share the converted events, so that each is encoded once.
 */
export function extendSubscription(
  subscription: Subscription,
  hasCursor: boolean,
  resumeAfterSeq: number | undefined,
): Subscription {
  let lastSeq = resumeAfterSeq;
  const convert = (event: LogEvent): LogEvent => {
    const { seq } = event;
    // A reply without a task has no position.
    if (seq === 0) return event;
    const previousSeq = lastSeq ?? seq - 1;
    lastSeq = seq;
    if (!hasCursor) return getOrConvert(eventsWithMessages, event, convertMessage);
    return previousSeq === seq - 1
      ? getOrConvert(eventsWithPosition, event, (source) => convertToPositioned(source, previousSeq))
      : convertToPositioned(event, previousSeq);
  };
  return hookSubscription(subscription, { onNext: (events) => events?.map(convert) });
}

type ConvertedEvents = WeakMap<LogEvent, LogEvent>;
const eventsWithMessages: ConvertedEvents = new WeakMap();
const eventsWithPosition: ConvertedEvents = new WeakMap();

function getOrConvert(
  converted: ConvertedEvents,
  source: LogEvent,
  convert: (event: LogEvent) => LogEvent,
): LogEvent {
  let result = converted.get(source);
  if (!result) converted.set(source, (result = convert(source)));
  return result;
}

function convertMessage(source: LogEvent): LogEvent {
  const { seq, event } = source;
  return "message" in event ? LogEvent.create(seq, toMessageStatusUpdate(event.message)) : source;
}

function convertToPositioned(source: LogEvent, previousGeneration: number): LogEvent {
  const { seq, event } = convertMessage(source);
  return LogEvent.create(seq, addEventPosition(event, { generation: seq, previousGeneration }));
}

/**
 * Name of the HTTP header and gRPC metadata key for the requested extensions, by A2A version. A2A 0.3
 * requests can also use the header of A2A 1.0.
 */
const EXTENSIONS_HEADER_BY_VERSION: Readonly<Record<ProtocolVersion, string>> = {
  "1.0": "a2a-extensions",
  "0.3": "x-a2a-extensions",
};
const NO_EXTENSIONS: readonly string[] = [];
const NO_REQUESTED_EXTENSIONS: ReadonlySet<string> = new Set();

interface HeaderReader {
  header(name: string): string | undefined;
}

/**
 * Returns the URIs of the active extensions. An extension is active if both the agent card and the request
 * list the extension (A2A §4.6.3). Each version of an extension has a different URI. Throws
 * EXTENSION_SUPPORT_REQUIRED if the request does not list an extension that the agent card requires.
 */
export function activateExtensions(
  declared: readonly AgentExtension[] | undefined,
  request: HeaderReader,
  version: ProtocolVersion,
): readonly string[] {
  if (!declared || declared.length === 0) return NO_EXTENSIONS;
  const requested = parseRequestedExtensions(request, version);
  const missing = getRequiredExtensions(declared).filter(({ uri }) => !requested.has(uri));
  if (missing.length > 0) throw createExtensionRequiredError(missing, version);
  if (requested.size === 0) return NO_EXTENSIONS;
  const known = new Set(declared.map(({ uri }) => uri));
  return [...requested].filter((uri) => known.has(uri));
}

const requiredByDeclared = new WeakMap<readonly AgentExtension[], readonly AgentExtension[]>();

/** Returns the required extensions of a card, which are needed for each request, and which most cards do not have. */
function getRequiredExtensions(declared: readonly AgentExtension[]): readonly AgentExtension[] {
  let required = requiredByDeclared.get(declared);
  if (!required)
    requiredByDeclared.set(declared, (required = declared.filter((extension) => extension.required)));
  return required;
}

export function buildExtensionHeaders(
  activated: readonly string[],
  version: ProtocolVersion,
): Record<string, string> {
  return { [EXTENSIONS_HEADER_BY_VERSION[version]]: activated.join(", ") };
}

function parseRequestedExtensions(request: HeaderReader, version: ProtocolVersion): ReadonlySet<string> {
  const versionHeader = request.header(EXTENSIONS_HEADER_BY_VERSION[version]) ?? "";
  const v1Header = version === "0.3" ? (request.header(EXTENSIONS_HEADER_BY_VERSION["1.0"]) ?? "") : "";
  if (versionHeader === "" && v1Header === "") return NO_REQUESTED_EXTENSIONS;
  const uris = `${versionHeader},${v1Header}`.split(",").map((uri) => uri.trim());
  return new Set(uris.filter((uri) => uri !== ""));
}

function createExtensionRequiredError(
  missing: readonly AgentExtension[],
  version: ProtocolVersion,
): A2AError {
  const uris = missing.map(({ uri }) => uri).join(", ");
  const [noun, pronoun] = missing.length === 1 ? ["an extension", "it"] : ["extensions", "them"];
  const text = `This agent requires ${noun} that the request does not list; if the client supports ${pronoun}, send "${EXTENSIONS_HEADER_BY_VERSION[version]}: ${uris}".`;
  return new A2AError("EXTENSION_SUPPORT_REQUIRED", text, { metadata: { extensions: uris } });
}
