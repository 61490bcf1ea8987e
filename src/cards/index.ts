/**
 * CARDS BETWEEN ROLES. A controller, planners and solvers speak in cards of six members. This is what a card is.
 */
export * from "./a2a/index.ts";
export * from "./card/index.ts";
export * from "./data/index.ts";
export * from "./exports/index.ts";
export * from "./html/index.ts";
export * from "./oracle/index.ts";
export * from "./record/index.ts";
export * from "./retrieval/index.ts";
export * from "./scoring/index.ts";
export * from "./statistics/index.ts";
export * from "./views/index.ts";
