import { type Card, type CardType, CORE_TYPES } from "../card/index.ts";
import { fit, oneLine } from "./text-width.ts";

const SENDER = 14;
const SYMBOL = 12;

export interface FlowOptions {
  /** Whose symbols are drawn; a protocol's `types`. Default: the five of the core. */
  readonly types?: readonly CardType[];
}

/**
 * The flow of cards, one on each line, as the specification prints it. The sender always stands left, so a result reads
 * `SOLVER ← [RESULT] PLANNER`, although the solver sends it.
 */
export function generateFlowDiagram(
  cards: readonly Card[],
  { types = CORE_TYPES }: FlowOptions = {},
): string {
  const symbols = new Map<string, string>(types.map(({ name, symbol }) => [name, symbol]));
  return cards
    .map(({ sender, recipient, message_type }, at) => {
      const symbol = symbols.get(message_type) ?? "• [MSG]";
      return `${at + 1}. ${column(sender, SENDER)}${column(symbol, SYMBOL)}${oneLine(recipient).toUpperCase()}`;
    })
    .join("\n");
}

/** A name that is too long keeps its end, and pushes the rest away. */
function column(text: string, columns: number): string {
  const name = oneLine(text).toUpperCase();
  return name.length < columns ? fit(name, columns) : `${name} `;
}
