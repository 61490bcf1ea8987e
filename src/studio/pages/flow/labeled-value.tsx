import type { VNode } from "preact";
import { AgentText } from "../cards/agent-text.tsx";

/** A name and a value in a line of facts. */
export function LabeledValue({
  name,
  value,
}: {
  readonly name: string;
  readonly value: string | VNode;
}): VNode {
  return (
    <span class="fact">
      <AgentText class="name" text={name} />
      {typeof value === "string" ? <AgentText text={value} /> : value}
    </span>
  );
}
