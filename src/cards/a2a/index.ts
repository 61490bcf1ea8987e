/** CARDS OVER A2A: how a card stands in the parts of a message, what travels beside it, and how an agent says that it speaks in cards. */
export { CARD_EXTENSION, CARD_MEDIA_TYPE, cardIn, fromCardParts, toCardParts } from "./parts.ts";
export {
  cardInMetadata,
  type Envelope,
  envelopeOf,
  MAX_HOPS,
  toCardMetadata,
  toEnvelopeMetadata,
} from "./envelope.ts";
export { cardExtension, type CardExtensionParams, speaksCards } from "./extension.ts";
export { isTraceparent, nextTraceparent } from "./trace.ts";
