import { type CardProtocol, CONTROLLER, createCardProtocol, PLANNER, SOLVER } from "./card-protocol.ts";

/** The core card protocol with its role names, exported under the name that the card specification uses. */
export const A2ACardProtocol: CardProtocol & {
  readonly CONTROLLER: typeof CONTROLLER;
  readonly PLANNER: typeof PLANNER;
  readonly SOLVER: typeof SOLVER;
} = { ...createCardProtocol(), CONTROLLER, PLANNER, SOLVER };
