import type { VNode } from "preact";

/** The screen Cards. */
export function CardsScreen(): VNode {
  return <h1>Cards</h1>;
}
