import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type { MessageCard } from "../message-card/index.ts";
import { type CardBoxOptions, renderCardBoxes } from "./card-boxes.ts";
import { renderPlainTextCardList } from "./plain-text-card-list.ts";

/** Options of `visualizeCards`. */
export interface VisualizeOptions extends CardBoxOptions {
  /**
   * Style of the output, either `boxes` or `classic`. The style `classic` is the plain list of 80 columns
   * from the specification. Default: `boxes`.
   */
  readonly style?: "boxes" | "classic";
}

const assertKnownOptions = defineOptionNames<VisualizeOptions>()("visualizeCards", "colors style width");

/** Renders a vertical list of message cards with direction, time, content, and metadata. */
export function visualizeCards(cards: readonly MessageCard[], options: VisualizeOptions = {}): string {
  assertKnownOptions(options);
  return options.style === "classic" ? renderPlainTextCardList(cards) : renderCardBoxes(cards, options);
}
