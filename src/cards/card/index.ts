/**
 * THE CARD: what a controller, a planner and a solver send each other. Pure values; nothing here knows how they travel.
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
