import type { JsonValue } from "../../protocol/index.ts";
import type { Card, CardMetadata } from "../card/index.ts";
import { fit, oneLine, printable, widthOf, wrap } from "./text-width.ts";

export interface BoxOptions {
  /** Columns of a box. Default 78, at least 40. */
  readonly width?: number;
}

/** The cards as boxes, one below the other: who to whom and when, what it says, and its metadata on a line. */
export function visualizeCards(cards: readonly Card[], { width = 78 }: BoxOptions = {}): string {
  return cards.map((card, at) => box(card, at + 1, Math.max(40, width))).join("\n");
}

function box(card: Card, number: number, width: number): string {
  const { sender, recipient, message_type, content, metadata, timestamp } = card;
  const inside = width - 4;
  const time = /\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?/.exec(timestamp)?.[0] ?? "";
  const about = `${number} ${oneLine(message_type).toUpperCase()}  ${oneLine(sender)} → ${oneLine(recipient)}`;
  const room = inside - time.length - 3;
  const title = widthOf(about) > room ? fit(about, room) : about;
  const notes = notesOf(metadata);
  return [
    `┌ ${title} ${"─".repeat(inside - widthOf(title) - time.length - 2)} ${time} ┐`,
    ...[...wrap(printable(content), inside), ...(notes === "" ? [] : wrap(`· ${notes}`, inside))].map(
      (line) => `│ ${fit(line, inside)} │`,
    ),
    `└${"─".repeat(width - 2)}┘`,
  ].join("\n");
}

function notesOf(metadata: CardMetadata): string {
  return Object.entries(metadata)
    .map(([name, value]) => oneLine(value === true ? name : `${name}=${written(value)}`))
    .join("  ");
}

function written(value: JsonValue): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.join(" | ");
  return JSON.stringify(value);
}
