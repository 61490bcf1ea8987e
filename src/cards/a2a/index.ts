/** CARDS OVER A2A: how a card stands in the parts of a message. */
export { CARD_EXTENSION, CARD_MEDIA_TYPE, fromCardParts, toCardParts } from "./parts.ts";
