import type { VNode } from "preact";

/** The screen Agents. */
export function AgentsScreen(): VNode {
  return <h1>Agents</h1>;
}
