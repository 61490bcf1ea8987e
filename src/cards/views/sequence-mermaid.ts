import { escapeMermaidLabel as escaped, renderMermaidSequence } from "../../observe/trace/index.ts";
import type { MessageCard } from "../message-card/index.ts";
import { mapConcurrentRepliesToTaskNumbers } from "./sequence-text.ts";

/** Mermaid arrow of each core card type. Custom card types use the Mermaid arrow of a task card. */
const ARROWS_BY_TYPE: ReadonlyMap<string, string> = new Map([
  ["result", "-->>"],
  ["control", "-)"],
  ["error", "-x"],
]);

/**
 * Renders message cards as a Mermaid sequence diagram, which GitHub and many editors display.
 * A reply contains the number of its task if several tasks of the role are open.
 */
export function renderSequenceMermaid(cards: readonly MessageCard[]): string {
  const roles = [...new Set(cards.flatMap(({ sender, recipient }) => [sender, recipient]))];
  const taskNumbers = mapConcurrentRepliesToTaskNumbers(cards);
  return renderMermaidSequence(roles, (ids) =>
    cards.flatMap((card) => {
      const { sender, recipient, message_type, content, metadata } = card;
      const task = taskNumbers.has(card) ? ` to ${taskNumbers.get(card)}` : "";
      const tokens = metadata.tokens === undefined ? "" : ` (${metadata.tokens} tok)`;
      const label = `${escaped(`[${message_type.toUpperCase()}${task}] ${content}`)}${tokens}`;
      const [from, to] = [ids.get(sender), ids.get(recipient)];
      const arrow = `    ${from}${ARROWS_BY_TYPE.get(message_type) ?? "->>"}${to}: ${label}`;
      const { options } = metadata;
      const hasOptions = message_type === "query" && Array.isArray(options) && options.length > 0;
      return hasOptions
        ? [arrow, `    Note over ${from},${to}: ${escaped(options.map(String).join(" | "))}`]
        : arrow;
    }),
  );
}
