import type { VNode } from "preact";
import { escapeControlCharacters } from "../../../cards/index.ts";

/** Text from an agent, with an isolated text direction and visible control characters. */
export function AgentText({
  text,
  class: className,
}: {
  readonly text: string;
  readonly class?: string;
}): VNode {
  return <bdi class={className}>{escapeControlCharacters(text)}</bdi>;
}
