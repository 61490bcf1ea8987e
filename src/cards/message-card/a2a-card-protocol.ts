import { type CardProtocol, CONTROLLER, createCardProtocol, PLANNER, SOLVER } from "./card-protocol.ts";

/** The protocol of the specification under its own name there. */
export const A2ACardProtocol: CardProtocol & {
  readonly CONTROLLER: typeof CONTROLLER;
  readonly PLANNER: typeof PLANNER;
  readonly SOLVER: typeof SOLVER;
} = { ...createCardProtocol(), CONTROLLER, PLANNER, SOLVER };
