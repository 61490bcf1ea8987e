import {
  A2AError,
  type DataPart,
  type JsonObject,
  mediaTypeOf,
  type Message,
  type Part,
  type TextPart,
} from "../../protocol/index.ts";
import { type Card, parseCard, toDict } from "../card/index.ts";

/** The extension by which agents speak in cards. A card that changes incompatibly is another URI. */
export const CARD_EXTENSION = "urn:colloquy:extensions:cards:v1";
export const CARD_MEDIA_TYPE = "application/vnd.colloquy.card+json";

const TYPE = `${CARD_EXTENSION}/type`;

/**
 * A card as it travels: the data, and its content once more as text for whoever knows nothing of cards. The type is in
 * the part's metadata, too, because 0.3 has no media type for data.
 */
export function toCardParts(card: Card): [DataPart, TextPart] {
  const data = toDict(card) as unknown as JsonObject;
  return [
    { data, mediaType: CARD_MEDIA_TYPE, metadata: { [TYPE]: card.message_type } },
    { text: card.content, mediaType: "text/plain" },
  ];
}

/**
 * The card among the parts of a message or an artifact; none when they are plain. Where that lists the extension, data
 * without a mark is a card, too: 0.3 over HTTP+JSON and gRPC has no place for one. INVALID_PARAMS for a card that is
 * wrong, or for two.
 */
export function fromCardParts(parts: readonly Part[], extensions: readonly string[] = []): Card | undefined {
  const marked = parts.filter(isCardPart);
  const unmarked = marked.length === 0 && extensions.includes(CARD_EXTENSION);
  const [first, second] = unmarked ? parts.filter((part) => "data" in part) : marked;
  if (!first) return undefined;
  if (!second) return parseCard(first.data);
  const description = "has more than one card; send each in a message of its own";
  throw A2AError.invalidParams([{ field: "parts", description }]);
}

/** The card in a message or an artifact, as `fromCardParts` finds it. */
export function cardIn({ parts, extensions }: Pick<Message, "parts" | "extensions">): Card | undefined {
  return fromCardParts(parts, extensions);
}

function isCardPart(part: Part): part is DataPart {
  if (!("data" in part)) return false;
  return mediaTypeOf(part) === CARD_MEDIA_TYPE || Object.hasOwn(part.metadata ?? {}, TYPE);
}
