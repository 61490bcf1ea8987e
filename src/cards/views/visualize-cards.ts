import type { MessageCard } from "../message-card/index.ts";
import { type CardBoxOptions, renderCardBoxes } from "./card-boxes.ts";
import { renderClassicList } from "./classic-list.ts";

/** Options of `visualizeCards`. */
export interface VisualizeOptions extends CardBoxOptions {
  /**
   * Style of the output: `boxes`, or `classic` for the plain list of the specification's tool with 80
   * columns. Default: `boxes`.
   */
  readonly style?: "boxes" | "classic";
}

/** Renders the cards one below the other, with direction, time, content, and metadata. */
export function visualizeCards(cards: readonly MessageCard[], options: VisualizeOptions = {}): string {
  return options.style === "classic" ? renderClassicList(cards) : renderCardBoxes(cards, options);
}
