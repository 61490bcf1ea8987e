import {
  A2AError,
  type AgentExtension,
  createChildContext,
  createRootContext,
  type DataPart,
  type FillRandomBytes,
  formatTraceparent,
  getMediaType,
  type JsonObject,
  type Message,
  parseTraceparent,
  type Part,
  type TextPart,
} from "../../protocol/index.ts";
import { type MessageCard, parseCard, toDict } from "../message-card/index.ts";
import { omitUndefined } from "../../base/usage-checks/index.ts";

/**
 * URI of the A2A extension for message cards. Incompatible changes to the message card format require a new
 * URI.
 */
export const MESSAGE_CARD_EXTENSION_URI = "urn:colloquy:extensions:cards:v1";
/** Media type of an A2A data part that contains a message card. */
export const MESSAGE_CARD_MEDIA_TYPE = "application/vnd.colloquy.card+json";

/** Key in the metadata of a data part that contains a message card. */
export const CARD_TYPE_KEY: string = `${MESSAGE_CARD_EXTENSION_URI}/type`;

/**
 * Encodes a message card as an A2A data part and an A2A text part. The text part repeats the card's content
 * for agents that do not support message cards. The metadata of the data part contains the type of the
 * message card, because A2A 0.3 has no media type for data parts.
 */
export function toCardParts(card: MessageCard): [DataPart, TextPart] {
  const data = toDict(card) as unknown as JsonObject;
  return [
    { data, mediaType: MESSAGE_CARD_MEDIA_TYPE, metadata: { [CARD_TYPE_KEY]: card.message_type } },
    { text: card.content, mediaType: "text/plain" },
  ];
}

/**
 * Returns the message card that an A2A message or artifact contains. The result is `undefined` if no part
 * contains a message card. If `extensions` contains the message card extension, a data part without a media
 * type also counts as a message card. A2A 0.3 over HTTP+JSON and gRPC cannot mark a part as a message card.
 * Throws INVALID_PARAMS if a message card is invalid or if the parts contain several message cards.
 */
export function findCardInMessage({
  parts,
  extensions = [],
}: Pick<Message, "parts" | "extensions">): MessageCard | undefined {
  const marked = parts.filter(isCardPart);
  const unmarked = marked.length === 0 && extensions.includes(MESSAGE_CARD_EXTENSION_URI);
  const [first, second] = unmarked ? parts.filter((part) => "data" in part) : marked;
  if (!first) return undefined;
  if (!second) return parseCard(first.data);
  const description = "contains more than one card; send each card in a separate message";
  throw A2AError.invalidParams([{ field: "parts", description }]);
}

function isCardPart(part: Part): part is DataPart {
  if (!("data" in part)) return false;
  return getMediaType(part) === MESSAGE_CARD_MEDIA_TYPE || Object.hasOwn(part.metadata ?? {}, CARD_TYPE_KEY);
}

/** Parameters of the message card extension in an agent card. */
interface MessageCardExtensionParams {
  /** Role of the agent in the card protocol, such as `planner`. */
  readonly role: string;
  /** Types of message cards that the agent accepts. */
  readonly accepts: readonly string[];
  /** Types of message cards that the agent sends. */
  readonly emits: readonly string[];
  /**
   * Relay modes that the agent supports. With `full`, the agent forwards every message card to its requester.
   */
  readonly relay: readonly ("none" | "full")[];
}

/**
 * Creates the agent card entry that declares the message card extension. If `required` is true, clients of
 * the agent must also send message cards. Default: `false`.
 */
export function createMessageCardExtension(
  params: MessageCardExtensionParams,
  required = false,
): AgentExtension {
  const { role, accepts, emits, relay } = params;
  return {
    uri: MESSAGE_CARD_EXTENSION_URI,
    description: "Speaks in task, result, query, control and error cards",
    ...(required ? { required } : {}),
    params: {
      role,
      accepts: [...accepts],
      emits: [...emits],
      relay: [...relay],
      media_type: MESSAGE_CARD_MEDIA_TYPE,
    } satisfies JsonObject,
  };
}

/** Returns whether an agent's capabilities declare the message card extension. */
export function supportsMessageCards(capabilities: {
  readonly extensions?: readonly AgentExtension[];
}): boolean {
  return (capabilities.extensions ?? []).some(({ uri }) => uri === MESSAGE_CARD_EXTENSION_URI);
}

/** Routing data of a message card, which the A2A message contains as metadata. */
export interface CardRelayAndTraceMetadata {
  /** ID of the experiment run that the message card belongs to. */
  readonly runId?: string | undefined;
  /** Relay mode of the task. With `full`, a role forwards every message card to its requester. */
  readonly relay: "none" | "full";
  /**
   * Number of times the problem was forwarded from one role to another. Roles reject a problem with more than
   * `MAX_PROBLEM_FORWARDS` hops as a loop.
   */
  readonly hops: number;
  /** W3C `traceparent` of the task, if the task is part of a distributed trace. */
  readonly traceparent?: string | undefined;
}

/** Maximum number of times a problem may be forwarded from one role to another. */
export const MAX_PROBLEM_FORWARDS = 8;

const RUN_ID_METADATA_KEY = `${MESSAGE_CARD_EXTENSION_URI}/run_id`;
const RELAY_TO_REQUESTER_METADATA_KEY = `${MESSAGE_CARD_EXTENSION_URI}/relay`;
const PROBLEM_FORWARDS_METADATA_KEY = `${MESSAGE_CARD_EXTENSION_URI}/hops`;
const TRACEPARENT_METADATA_KEY = `${MESSAGE_CARD_EXTENSION_URI}/traceparent`;
export const MESSAGE_CARD_METADATA_KEY: string = `${MESSAGE_CARD_EXTENSION_URI}/card`;

/** Encodes the routing data of a message card as A2A message metadata. */
export function encodeCardRelayAndTraceMetadata({
  runId,
  relay,
  hops,
  traceparent,
}: CardRelayAndTraceMetadata): JsonObject {
  return omitUndefined({
    [RUN_ID_METADATA_KEY]: runId,
    [RELAY_TO_REQUESTER_METADATA_KEY]: relay === "none" ? undefined : relay,
    [PROBLEM_FORWARDS_METADATA_KEY]: hops === 1 ? undefined : hops,
    [TRACEPARENT_METADATA_KEY]: traceparent,
  });
}

/**
 * Decodes the routing data of a message card from the metadata of an A2A message and its request. If several
 * arguments contain the same key, the first of these arguments takes precedence. The function ignores
 * malformed values.
 */
export function decodeCardRelayAndTraceMetadata(
  ...metadata: readonly (JsonObject | undefined)[]
): CardRelayAndTraceMetadata {
  const merged: JsonObject = Object.assign({}, ...metadata.toReversed());
  const {
    [RUN_ID_METADATA_KEY]: runId,
    [RELAY_TO_REQUESTER_METADATA_KEY]: relay,
    [PROBLEM_FORWARDS_METADATA_KEY]: hops,
    [TRACEPARENT_METADATA_KEY]: traceparent,
  } = merged;
  return {
    ...(typeof runId === "string" ? { runId } : {}),
    relay: relay === "full" ? "full" : "none",
    hops: typeof hops === "number" && Number.isInteger(hops) && hops > 0 ? hops : 1,
    ...(isTraceparent(traceparent) ? { traceparent } : {}),
  };
}

/**
 * Encodes a message card as the metadata of a `CancelTask` request, because a `CancelTask` request has no
 * parts.
 */
export function encodeCardInCancelMetadata(card: MessageCard): JsonObject {
  return { [MESSAGE_CARD_METADATA_KEY]: toDict(card) };
}

/**
 * Returns the message card in the metadata of a `CancelTask` request, or `undefined` if the metadata contains
 * no valid message card.
 */
export function findCardInCancelMetadata(metadata: JsonObject | undefined): MessageCard | undefined {
  const json = metadata?.[MESSAGE_CARD_METADATA_KEY];
  if (json === undefined) return undefined;
  try {
    return parseCard(json);
  } catch {
    // An invalid card must not prevent the cancellation of the task.
    return undefined;
  }
}

/**
 * Returns the W3C `traceparent` of a new child span of `parent`. If `parent` is missing or invalid, the span
 * starts a new trace.
 */
export function createChildTraceparent(
  parent?: string,
  fillRandom: FillRandomBytes = (bytes) => crypto.getRandomValues(bytes),
): string {
  const context = parseTraceparent(parent);
  return formatTraceparent(
    context ? createChildContext(context, fillRandom) : createRootContext(true, fillRandom),
  );
}

/**
 * Returns whether a value is a valid W3C `traceparent`. The W3C specification forbids trace IDs and span IDs
 * that consist of zeros only.
 */
export function isTraceparent(value: unknown): value is string {
  return typeof value === "string" && parseTraceparent(value) !== undefined;
}
