/** CARDS OVER A2A: how a card stands in the parts of a message, what travels beside it, and how an agent says that it speaks in cards. */
export {
  MESSAGE_CARD_EXTENSION_URI,
  MESSAGE_CARD_MEDIA_TYPE,
  findCardInMessage,
  findCardInParts,
  toCardParts,
} from "./card-parts.ts";
export {
  findCardInMetadata,
  type CardEnvelope,
  decodeCardEnvelope,
  MAX_HOPS,
  encodeCardInMetadata,
  encodeCardEnvelope,
} from "./card-envelope.ts";
export {
  createMessageCardExtension,
  type MessageCardExtensionParams,
  supportsMessageCards,
} from "./card-extension.ts";
export { isTraceparent, createChildTraceparent } from "./traceparent.ts";
