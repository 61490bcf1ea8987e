import type { MessageCard } from "../message-card/index.ts";
import { type CardBoxOptions, renderCardBoxes } from "./card-boxes.ts";
import { renderClassicList } from "./classic-list.ts";

export interface VisualizeOptions extends CardBoxOptions {
  /** `boxes`, or `classic`: the plain list of the specification's own tool, 80 columns wide. Default `boxes`. */
  readonly style?: "boxes" | "classic";
}

/** The cards, one below the other: who to whom and when, what it says, and its metadata. */
export function visualizeCards(cards: readonly MessageCard[], options: VisualizeOptions = {}): string {
  return options.style === "classic" ? renderClassicList(cards) : renderCardBoxes(cards, options);
}
