import type { VNode } from "preact";

/** The screen Task. */
export function TaskScreen(): VNode {
  return <h1>Task</h1>;
}
