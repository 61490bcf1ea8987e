import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import {
  type MessageCard,
  generateFlowDiagram,
  visualizeCards,
  type VisualizeOptions,
} from "../cards/index.ts";

/**
 * Writes a readable form of the cards to a file: the output of `visualizeCards`, followed by the flow
 * diagram. Creates the folder and overwrites the file.
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

/** The visualizer of the card specification, under the name that the specification uses. */
export const A2AVisualizer: {
  readonly visualizeCards: typeof visualizeCards;
  readonly generateFlowDiagram: typeof generateFlowDiagram;
  readonly saveCardVisualization: typeof saveCardVisualization;
} = { visualizeCards, generateFlowDiagram, saveCardVisualization };
