/**
 * Encoding of message cards in A2A: message parts, message metadata, and the extension of the agent card.
 */
export * from "./card-parts.ts";
