/**
 * Message cards that a controller, a planner, and a solver exchange. `createCardProtocol` creates a protocol
 * for message cards of registered types and roles. `parseCard` parses message cards of any type. `rules`
 * contains validation rules for custom types of message cards. The code in this folder is independent of the
 * transport.
 */
export * from "./a2a-card-protocol.ts";
export * from "./card-protocol.ts";
export * from "./card-type.ts";
export * from "./message-card.ts";
export * from "./parse-card.ts";
export * from "./validation/validation-context.ts";
export * as rules from "./validation/field-rules.ts";
