import type { VNode } from "preact";
import { usePageState } from "../app/page-state.ts";
import { formatRoute } from "../app/route.ts";
import { escapeControlCharacters } from "../../../cards/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { CopyButton } from "./copy-button.tsx";

/** An id with a button that copies the id. */
export function Identifier({ name, id }: { readonly name: string; readonly id: string }): VNode {
  return (
    <span class="identifier">
      <span class="soft">{name}</span>{" "}
      <code title={escapeControlCharacters(id)}>
        <AgentText text={shortenId(id)} />
      </code>
      <CopyButton text={() => id} label={`Copy the ${name} id`} />
    </span>
  );
}

/** A link to a task of the traffic, which names agents and not their ids. */
export function TaskLink(props: {
  readonly agent: string | undefined;
  readonly id: string;
  readonly text: string;
}): VNode {
  const { agent = "unknown", id, text } = props;
  const { findAgent } = usePageState();
  return (
    <a href={formatRoute("task", [findAgent(agent)?.id ?? agent, id])}>
      <AgentText text={text} />
    </a>
  );
}

/** Shortens a long id in its middle. UUIDs of version 7 differ most at their end. */
export function shortenId(id: string, length = 13): string {
  const characters = Array.from(id);
  if (characters.length <= length) return id;
  const kept = Math.floor((length - 1) / 2);
  return `${characters.slice(0, kept).join("")}…${characters.slice(-kept).join("")}`;
}
