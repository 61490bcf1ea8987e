import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { type MessageCard, type CardType, CORE_CARD_TYPES } from "../message-card/index.ts";
import { fitToColumns, toSingleLine } from "./text-width.ts";

const SENDER_COLUMN_WIDTH = 14;
const CARD_SYMBOL_COLUMN_WIDTH = 12;

/** Options of `generateFlowDiagram`. */
export interface FlowDiagramOptions {
  /**
   * Card types with their symbols in the diagram, for example the `types` of a card protocol. Default: the
   * five core card types.
   */
  readonly types?: readonly CardType[];
}

const assertKnownOptions = defineOptionNames<FlowDiagramOptions>()("generateFlowDiagram", "types");

/**
 * Renders the flow of message cards, one card per line, in the format of the specification.
 * The sender is always on the left, so a result from the solver is rendered as `SOLVER ← [RESULT] PLANNER`.
 */
export function generateFlowDiagram(cards: readonly MessageCard[], options: FlowDiagramOptions = {}): string {
  assertKnownOptions(options);
  const { types = CORE_CARD_TYPES } = options;
  const symbols = new Map<string, string>(types.map(({ name, symbol }) => [name, symbol]));
  return cards
    .map(({ sender, recipient, message_type }, at) => {
      const symbol = symbols.get(message_type) ?? "• [MSG]";
      return `${at + 1}. ${padColumn(sender, SENDER_COLUMN_WIDTH)}${padColumn(symbol, CARD_SYMBOL_COLUMN_WIDTH)}${toSingleLine(recipient).toUpperCase()}`;
    })
    .join("\n");
}

/** Pads a role name to a column width and never truncates the role name. */
function padColumn(text: string, columns: number): string {
  const name = toSingleLine(text).toUpperCase();
  return name.length < columns ? fitToColumns(name, columns) : `${name} `;
}
