import type { VNode } from "preact";

/** The screen Flow. */
export function FlowScreen(): VNode {
  return <h1>Flow</h1>;
}
