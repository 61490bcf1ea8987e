import type { Card } from "../card/index.ts";
import { type BoxOptions, boxesOf } from "./boxes.ts";
import { classicOf } from "./classic.ts";

export interface VisualizeOptions extends BoxOptions {
  /** `boxes`, or `classic`: the plain list of the specification's own tool, 80 columns wide. Default `boxes`. */
  readonly style?: "boxes" | "classic";
}

/** The cards, one below the other: who to whom and when, what it says, and its metadata. */
export function visualizeCards(cards: readonly Card[], options: VisualizeOptions = {}): string {
  return options.style === "classic" ? classicOf(cards) : boxesOf(cards, options);
}
