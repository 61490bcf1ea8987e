/**
 * Text views of message cards.
 * All views are pure functions that accept a list of message cards. The views escape text from agents for each output format.
 */
export * from "./card-metadata-value.ts";
export * from "./card-type-class.ts";
export * from "./delegations.ts";
export * from "./flow-diagram.ts";
export * from "./sequence-mermaid.ts";
export * from "./sequence-text.ts";
export * from "./text-width.ts";
export * from "./visualize-cards.ts";
