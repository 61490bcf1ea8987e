import { describeMark } from "./describe-line.ts";
import { buildTrafficSequence } from "../model/traffic-sequence.ts";
import type { TrafficModel } from "../model/traffic-model.ts";

const MAX_LABEL_LENGTH = 120;

/**
 * Renders a record as a Mermaid sequence diagram, which GitHub and many editors display. With `tasks`, the diagram
 * contains only these tasks.
 */
export function renderTrafficMermaid(model: TrafficModel, tasks?: ReadonlySet<string>): string {
  const { parties, items } = buildTrafficSequence(model, tasks);
  // Participants have generated ids, because an agent may be called `end`, which ends a block in Mermaid.
  const ids = new Map(parties.map((party, at) => [party, `p${at + 1}`]));
  const lines = items.flatMap(({ kind, from, to, label, isError, marks }) => {
    const arrow = isError ? "-x" : kind === "request" || kind === "model" || kind === "tool" ? "->>" : "-->>";
    const ends = [ids.get(from), ids.get(to)];
    return [
      `    ${ends[0]}${arrow}${ends[1]}: ${escapeMermaidLabel(label)}`,
      ...marks.map((mark) => `    Note over ${ends[1]}: ${escapeMermaidLabel(describeMark(mark))}`),
    ];
  });
  return [
    "sequenceDiagram",
    "    autonumber",
    ...parties.map((party) => `    participant ${ids.get(party)} as ${escapeMermaidLabel(party)}`),
    ...lines,
    "",
  ].join("\n");
}

/** Replaces characters with a meaning in Mermaid or HTML, and line ends. An empty label is invalid in Mermaid. */
function escapeMermaidLabel(text: string): string {
  const short = text.length > MAX_LABEL_LENGTH ? `${text.slice(0, MAX_LABEL_LENGTH).toWellFormed()}…` : text;
  const label = short
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/[^\p{L}\p{N} .,()/+*=?!'_…-]/gu, (character) => `#${character.codePointAt(0)};`);
  return label === "" ? "#32;" : label;
}
