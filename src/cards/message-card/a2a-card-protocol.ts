import { type CardProtocol, CONTROLLER, createCardProtocol, PLANNER, SOLVER } from "./card-protocol.ts";

/** The core card protocol under the name that the specification uses, with the names of its roles. */
export const A2ACardProtocol: CardProtocol & {
  readonly CONTROLLER: typeof CONTROLLER;
  readonly PLANNER: typeof PLANNER;
  readonly SOLVER: typeof SOLVER;
} = { ...createCardProtocol(), CONTROLLER, PLANNER, SOLVER };
