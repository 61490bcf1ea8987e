import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type MessageCard, generateFlowDiagram, visualizeCards, type VisualizeOptions } from "../index.ts";

/**
 * Writes a text file that shows message cards as a list (see `visualizeCards`) and as a flow diagram. The
 * function creates the file's folder, if necessary, and overwrites an existing file.
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

/** Visualizer for message cards. The name `A2AVisualizer` comes from the card specification. */
export const A2AVisualizer: {
  readonly visualizeCards: typeof visualizeCards;
  readonly generateFlowDiagram: typeof generateFlowDiagram;
  readonly saveCardVisualization: typeof saveCardVisualization;
} = { visualizeCards, generateFlowDiagram, saveCardVisualization };
