import { isObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { TrafficLine } from "../../observe/trace/index.ts";
import { CARD_TYPE_KEY, MESSAGE_CARD_MEDIA_TYPE, MESSAGE_CARD_METADATA_KEY } from "../a2a/index.ts";
import { type MessageCard, parseCard } from "../message-card/index.ts";

/**
 * Returns the message cards in the messages of a traffic line, for all bindings and protocol versions. Invalid message
 * cards are skipped, because any client can send them.
 */
export function findLineCards(line: TrafficLine): MessageCard[] {
  return listCardJson(line).flatMap((json) => {
    try {
      return [parseCard(json)];
    } catch {
      return [];
    }
  });
}

/** Returns the JSON of the message cards in the messages of a traffic line. */
export function listCardJson(line: TrafficLine): JsonValue[] {
  if (line.kind === "card") return [line.card];
  if (line.kind === "request" || line.kind === "response") return findCardsInJson(line.body);
  return line.kind === "event" || line.kind === "frame" ? findCardsInJson(line.event) : [];
}

function findCardsInJson(json: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(json)) return json.flatMap(findCardsInJson);
  if (!isObject(json)) return [];
  if (isCardPart(json)) return [json["data"] ?? null];
  return Object.entries(json).flatMap(([name, value]) =>
    // The metadata of a request to cancel a task contains a message card.
    name === MESSAGE_CARD_METADATA_KEY ? [value] : findCardsInJson(value),
  );
}

function isCardPart({ data, mediaType, metadata }: JsonObject): boolean {
  if (!isObject(data)) return false;
  return (
    mediaType === MESSAGE_CARD_MEDIA_TYPE ||
    (isObject(metadata) && Object.hasOwn(metadata, CARD_TYPE_KEY)) ||
    // A2A 0.3 over HTTP+JSON marks no part. The members identify a message card.
    CARD_MEMBERS.every((name) => Object.hasOwn(data, name))
  );
}

const CARD_MEMBERS = ["sender", "recipient", "message_type", "content", "timestamp"] as const;
