import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import {
  type MessageCard,
  generateFlowDiagram,
  visualizeCards,
  type VisualizeOptions,
} from "../cards/index.ts";

/**
 * Writes message cards to a text file with the output of `visualizeCards` and a flow diagram. The function
 * creates the folder of the file and overwrites an existing file.
 */
export function saveCardVisualization(
  cards: readonly MessageCard[],
  file: string,
  options: Omit<VisualizeOptions, "colors"> = {},
): void {
  mkdirSync(dirname(file), { recursive: true });
  const sections = [visualizeCards(cards, { ...options, colors: false }), generateFlowDiagram(cards)];
  writeFileSync(file, `${sections.join("\n\n")}\n`);
}

/** The visualizer for message cards. The card specification defines the name `A2AVisualizer`. */
export const A2AVisualizer: {
  readonly visualizeCards: typeof visualizeCards;
  readonly generateFlowDiagram: typeof generateFlowDiagram;
  readonly saveCardVisualization: typeof saveCardVisualization;
} = { visualizeCards, generateFlowDiagram, saveCardVisualization };
