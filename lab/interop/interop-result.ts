import type { ScenarioOutcome } from "./protocol-variants.ts";

/** The outcome of one scenario with one peer in one direction: a cell of a table. */
export interface InteropResult extends ScenarioOutcome {
  /** The table of the result. */
  readonly suite: InteropSuite;
  readonly peer: string;
  /** Package and version of the peer. */
  readonly sdk: string;
  readonly direction: CallDirection;
  /** Protocol binding and version, if the suite runs several. */
  readonly variant?: string;
  /** The scenario did not run, because the peer does not support it. Content of the cell, such as `no push`. */
  readonly missing?: string;
}

export type InteropSuite = "ADK" | "generators" | "SDKs" | "frameworks" | "console" | "page";

/** `own server` is the peer's client with the peer's server. The direction shows defects of the peer alone. */
export type CallDirection = "their client" | "our client" | "own server";

/** Name of a result in `expected.json`. */
export function getResultName({ suite, variant, scenario }: InteropResult): string {
  if (suite === "generators") return `generator: ${scenario}`;
  if (suite === "console" || suite === "page") return `${suite}: ${scenario}`;
  return variant === undefined ? scenario : `${variant}: ${scenario}`;
}
