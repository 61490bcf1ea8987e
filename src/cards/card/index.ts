/**
 * THE CARD: what a controller, a planner and a solver send each other. Pure values; nothing here knows how they travel.
 * `createCardProtocol` makes and reads cards of registered types and roles; `parseCard` reads whatever is a card; `rules`
 * are for types of your own.
 */
export type {
  Card,
  CardMetadata,
  CardUsage,
  ControlCard,
  ControlMetadata,
  CoreCard,
  CoreErrorType,
  ErrorCard,
  ErrorMetadata,
  QueryCard,
  QueryMetadata,
  ResultCard,
  ResultMetadata,
  ResultStatus,
  TaskCard,
  TaskMetadata,
} from "./card.ts";
export { timeOf } from "./card.ts";
export { cut } from "./cut.ts";
export { fromJson, parseCard, toDict, toJson } from "./parse-card.ts";
export { type CardType, type CardTypeOptions, CORE_TYPES, defineCardType } from "./card-type.ts";
export type { Members, Reading, RequiredMember, Rule } from "./reading.ts";
export * as rules from "./rules.ts";
export {
  type CardOf,
  type CardProtocol,
  type CardProtocolOptions,
  CONTROLLER,
  type CoreRole,
  createCardProtocol,
  PLANNER,
  type Route,
  SOLVER,
} from "./card-protocol.ts";
export { A2ACardProtocol } from "./a2a-card-protocol.ts";
