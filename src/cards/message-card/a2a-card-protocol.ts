import { type CardProtocol, CONTROLLER, createCardProtocol, PLANNER, SOLVER } from "./card-protocol.ts";

/** The core card protocol and its role names. The card specification defines the name `A2ACardProtocol`. */
export const A2ACardProtocol: CardProtocol & {
  readonly CONTROLLER: typeof CONTROLLER;
  readonly PLANNER: typeof PLANNER;
  readonly SOLVER: typeof SOLVER;
} = { ...createCardProtocol(), CONTROLLER, PLANNER, SOLVER };
