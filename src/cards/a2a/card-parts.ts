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

/** The extension by which agents speak in cards. A card that changes incompatibly is another URI. */
export const MESSAGE_CARD_EXTENSION_URI = "urn:colloquy:extensions:cards:v1";
export const MESSAGE_CARD_MEDIA_TYPE = "application/vnd.colloquy.card+json";

const CARD_TYPE_KEY = `${MESSAGE_CARD_EXTENSION_URI}/type`;

/**
 * A card as it travels: the data, and its content once more as text for whoever knows nothing of cards. The type is in
 * the part's metadata, too, because 0.3 has no media type for data.
 */
export function toCardParts(card: MessageCard): [DataPart, TextPart] {
  const data = toDict(card) as unknown as JsonObject;
  return [
    { data, mediaType: MESSAGE_CARD_MEDIA_TYPE, metadata: { [CARD_TYPE_KEY]: card.message_type } },
    { text: card.content, mediaType: "text/plain" },
  ];
}

/**
 * The card among the parts of a message or an artifact; none when they are plain. Where that lists the extension, data
 * without a mark is a card, too: 0.3 over HTTP+JSON and gRPC has no place for one. INVALID_PARAMS for a card that is
 * wrong, or for two.
 */
export function findCardInParts(
  parts: readonly Part[],
  extensions: readonly string[] = [],
): MessageCard | undefined {
  const marked = parts.filter(isCardPart);
  const unmarked = marked.length === 0 && extensions.includes(MESSAGE_CARD_EXTENSION_URI);
  const [first, second] = unmarked ? parts.filter((part) => "data" in part) : marked;
  if (!first) return undefined;
  if (!second) return parseCard(first.data);
  const description = "has more than one card; send each in a message of its own";
  throw A2AError.invalidParams([{ field: "parts", description }]);
}

/** The card in a message or an artifact, as `findCardInParts` finds it. */
export function findCardInMessage({
  parts,
  extensions,
}: Pick<Message, "parts" | "extensions">): MessageCard | undefined {
  return findCardInParts(parts, extensions);
}

function isCardPart(part: Part): part is DataPart {
  if (!("data" in part)) return false;
  return getMediaType(part) === MESSAGE_CARD_MEDIA_TYPE || Object.hasOwn(part.metadata ?? {}, CARD_TYPE_KEY);
}
