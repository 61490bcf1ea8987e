import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import {
  type MessageCard,
  generateFlowDiagram,
  visualizeCards,
  type VisualizeOptions,
} from "../cards/index.ts";

/**
 * Writes the cards into a file as somebody would read them: each as `visualizeCards` shows it, then all as a flow diagram.
 * Makes the folder, and replaces what was in the file.
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

/** The visualizer of the specification under its own name there. */
export const A2AVisualizer: {
  readonly visualizeCards: typeof visualizeCards;
  readonly generateFlowDiagram: typeof generateFlowDiagram;
  readonly saveCardVisualization: typeof saveCardVisualization;
} = { visualizeCards, generateFlowDiagram, saveCardVisualization };
