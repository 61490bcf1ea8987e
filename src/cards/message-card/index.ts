/**
 * Message cards that a controller, a planner, and a solver exchange. `createCardProtocol` creates a protocol
 * for message cards of registered types and roles. `parseCard` parses message cards of any type. `rules`
 * contains validation rules for custom types of message cards. The code in this folder is independent of the
 * transport.
 */
export type {
  MessageCard,
  CardMetadata,
  CardTokenUsage,
  ControlCard,
  CoreCardErrorType,
  ErrorCard,
  ErrorCardMetadata,
  FailedTry,
  QueryCard,
  ResultCard,
  ResultCardStatus,
  TaskCard,
} from "./message-card.ts";
export { parseCardTime } from "./message-card.ts";
export { fromJson, parseCard, toDict, toJson } from "./parse-card.ts";
export { type CardType, type CardTypeOptions, CORE_CARD_TYPES, defineCardType } from "./card-type.ts";
export type { FieldRule } from "./validation/validation-context.ts";
export * as rules from "./validation/field-rules.ts";
export {
  type CardOfType,
  type CardProtocol,
  type CardProtocolOptions,
  CONTROLLER,
  type CoreRole,
  createCardProtocol,
  PLANNER,
  type CardRoute,
  SOLVER,
} from "./card-protocol.ts";
export { A2ACardProtocol } from "./a2a-card-protocol.ts";
