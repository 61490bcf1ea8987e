import { type MessageCard, type CardType, CORE_CARD_TYPES } from "../message-card/index.ts";
import { fitToColumns, toSingleLine } from "./text-width.ts";

const SENDER_COLUMNS = 14;
const SYMBOL_COLUMNS = 12;

export interface FlowDiagramOptions {
  /** Whose symbols are drawn; a protocol's `types`. Default: the five of the core. */
  readonly types?: readonly CardType[];
}

/**
 * The flow of cards, one on each line, as the specification prints it. The sender always stands left, so a result reads
 * `SOLVER ← [RESULT] PLANNER`, although the solver sends it.
 */
export function generateFlowDiagram(
  cards: readonly MessageCard[],
  { types = CORE_CARD_TYPES }: FlowDiagramOptions = {},
): string {
  const symbols = new Map<string, string>(types.map(({ name, symbol }) => [name, symbol]));
  return cards
    .map(({ sender, recipient, message_type }, at) => {
      const symbol = symbols.get(message_type) ?? "• [MSG]";
      return `${at + 1}. ${padColumn(sender, SENDER_COLUMNS)}${padColumn(symbol, SYMBOL_COLUMNS)}${toSingleLine(recipient).toUpperCase()}`;
    })
    .join("\n");
}

/** A name that is too long keeps its end, and pushes the rest away. */
function padColumn(text: string, columns: number): string {
  const name = toSingleLine(text).toUpperCase();
  return name.length < columns ? fitToColumns(name, columns) : `${name} `;
}
