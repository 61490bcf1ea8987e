import type { VNode } from "preact";

/** The screen Tasks. */
export function TasksScreen(): VNode {
  return <h1>Tasks</h1>;
}
