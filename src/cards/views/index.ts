/**
 * Text views of message cards.
 * All views are pure functions that accept a list of message cards. The views escape text from agents for each output format.
 */
export * from "./visualize-cards.ts";
export * from "./sequence-text.ts";
export * from "./text-width.ts";
