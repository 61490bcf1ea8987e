/** The `colloquy/cards` entry: the card protocol, the roles that speak it, and experiments that run them over datasets. */
export * from "../cards/index.ts";
export type { RunFinding } from "../cards/index.ts";
export * from "../experiments/index.ts";
export * from "../roles/index.ts";
