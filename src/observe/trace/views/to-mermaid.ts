import { replaceControlCharacters, truncateText } from "../../../protocol/index.ts";
import { describeMark } from "./describe-line.ts";
import { buildTrafficSequence } from "../model/traffic-sequence.ts";
import type { TrafficModel } from "../model/traffic-model.ts";

/** Maximum length of a label. Short labels keep a diagram below Mermaid's limit of 50,000 characters. */
const MAX_LABEL_LENGTH = 160;

/**
 * Renders a record as a Mermaid sequence diagram, which GitHub and many editors display. With `tasks`, the diagram
 * contains only these tasks.
 */
export function renderTrafficMermaid(model: TrafficModel, tasks?: ReadonlySet<string>): string {
  const { parties, items } = buildTrafficSequence(model, tasks);
  return renderMermaidSequence(parties, (ids) =>
    items.flatMap(({ kind, from, to, label, isError, marks }) => {
      const isRequest = kind === "request" || kind === "model" || kind === "tool";
      const arrow = isError ? "-x" : isRequest ? "->>" : "-->>";
      return [
        `    ${ids.get(from)}${arrow}${ids.get(to)}: ${escapeMermaidLabel(label)}`,
        ...marks.map((mark) => `    Note over ${ids.get(to)}: ${escapeMermaidLabel(describeMark(mark))}`),
      ];
    }),
  );
}

/** Renders a Mermaid sequence diagram. `draw` returns its statements, with the ids of the parties. */
export function renderMermaidSequence(
  parties: readonly string[],
  draw: (ids: ReadonlyMap<string, string>) => readonly string[],
): string {
  // Participants have generated ids, because an agent may be called `end`, which ends a block in Mermaid.
  const ids = new Map(parties.map((party, at) => [party, `p${at + 1}`]));
  return [
    "sequenceDiagram",
    "    autonumber",
    ...parties.map((party) => `    participant ${ids.get(party)} as ${escapeMermaidLabel(party)}`),
    ...draw(ids),
    "",
  ].join("\n");
}

/**
 * Escapes text for Mermaid. Line breaks, HTML characters, and characters that start a comment, directive, or
 * formula are replaced by entities. An empty label is invalid in Mermaid.
 */
export function escapeMermaidLabel(text: string): string {
  const short = text.length > MAX_LABEL_LENGTH ? `${truncateText(text, MAX_LABEL_LENGTH)}…` : text;
  const label = replaceControlCharacters(short.replaceAll("\r\n", "\n").replaceAll("\t", "    "))
    .trim()
    .replaceAll(/[#;<>&%:"{}`]/g, (character) => `#${character.charCodeAt(0)};`)
    .replaceAll("$$", () => "#36;#36;")
    .replaceAll("\n", "<br/>");
  return label === "" ? "#32;" : label;
}
