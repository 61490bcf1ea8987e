/**
 * Encoding of message cards in A2A: message parts, message metadata, and the extension of the agent card.
 */
export {
  MESSAGE_CARD_EXTENSION_URI,
  MESSAGE_CARD_MEDIA_TYPE,
  findCardInMessage,
  findCardInParts,
  toCardParts,
} from "./card-parts.ts";
export {
  findCardInCancelMetadata,
  type CardRelayAndTraceMetadata,
  decodeCardRelayAndTraceMetadata,
  MAX_PROBLEM_FORWARDS,
  encodeCardInCancelMetadata,
  encodeCardRelayAndTraceMetadata,
} from "./card-relay-and-trace-metadata.ts";
export { createMessageCardExtension, supportsMessageCards } from "./card-extension.ts";
export { isTraceparent, createChildTraceparent } from "./traceparent.ts";
