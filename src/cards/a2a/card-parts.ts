import {
  A2AError,
  type DataPart,
  type JsonObject,
  getMediaType,
  type Message,
  type Part,
  type TextPart,
} from "../../protocol/index.ts";
import { type MessageCard, parseCard, toDict } from "../message-card/index.ts";

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
