/**
 * Encoding of message cards in A2A: message parts, message metadata, and the extension of the agent card.
 */
export * from "./card-extension.ts";
export * from "./card-parts.ts";
export * from "./card-relay-and-trace-metadata.ts";
export * from "./traceparent.ts";
