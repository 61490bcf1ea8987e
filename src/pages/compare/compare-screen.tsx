import type { VNode } from "preact";

/** The screen Compare. */
export function CompareScreen(): VNode {
  return <h1>Compare</h1>;
}
