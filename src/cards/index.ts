/**
 * CARDS BETWEEN ROLES. A controller, planners and solvers speak in cards of six members. This is what a card is.
 */
export * from "./card/index.ts";
