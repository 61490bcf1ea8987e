import type { Card } from "../card/index.ts";
import { printable } from "./text-width.ts";

/** How a type's arrow is drawn; what is not here is drawn as a task. */
const ARROWS: Readonly<Record<string, string | undefined>> = {
  result: "-->>",
  control: "-)",
  error: "-x",
};

/** The cards as a sequence diagram of Mermaid, which GitHub and many editors draw. */
export function mermaidOf(cards: readonly Card[]): string {
  const roles = [...new Set(cards.flatMap(({ sender, recipient }) => [sender, recipient]))];
  // Ids of our own, because a role may be called `end`, which ends a block.
  const ids = new Map(roles.map((role, at) => [role, `r${at + 1}`]));
  return [
    "sequenceDiagram",
    "    autonumber",
    ...roles.map((role) => `    participant ${ids.get(role)} as ${escaped(role)}`),
    ...cards.map(({ sender, recipient, message_type, content, metadata }) => {
      const arrow = (Object.hasOwn(ARROWS, message_type) ? ARROWS[message_type] : undefined) ?? "->>";
      const tokens = metadata.tokens === undefined ? "" : ` (${metadata.tokens} tok)`;
      const label = escaped(`[${message_type.toUpperCase()}] ${content}${tokens}`);
      return `    ${ids.get(sender)}${arrow}${ids.get(recipient)}: ${label}`;
    }),
    "",
  ].join("\n");
}

/** As Mermaid's entities, what would end the line, begin a comment or be taken for HTML. */
function escaped(text: string): string {
  return printable(text)
    .trim()
    .replaceAll(/[#;<>&%:"]/g, (character) => `#${character.charCodeAt(0)};`)
    .replaceAll("\n", "<br/>");
}
