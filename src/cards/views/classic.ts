import type { Card } from "../card/index.ts";
import { cut, oneLine } from "./text-width.ts";

const FRAME = "=".repeat(80);
/** Of a content, in columns; a list is for seeing who said what to whom, not for reading it. */
const SHOWN = 103;

/** The cards as a plain list, `[Card 1]` and so on, with nothing in it that a log or a mail could not show. */
export function classicOf(cards: readonly Card[]): string {
  return [
    FRAME,
    "A2A CARD COMMUNICATION FLOW",
    FRAME,
    ...cards.flatMap((card, at) => entryOf(card, at + 1)),
    FRAME,
    `Total Cards: ${cards.length}`,
    FRAME,
  ].join("\n");
}

function entryOf(card: Card, number: number): string[] {
  const { sender, recipient, message_type, content, metadata, timestamp } = card;
  const { status } = metadata;
  const isResult = message_type === "result" && typeof status === "string";
  return [
    "",
    `[Card ${number}] ${oneLine(timestamp)}`,
    `  From: ${oneLine(sender).toUpperCase()}`,
    `  To:   ${oneLine(recipient).toUpperCase()}`,
    `  Type: ${oneLine(message_type).toUpperCase()}`,
    ...(isResult ? [`  Status: ${oneLine(status)}`] : []),
    `  ${LABELS.get(message_type) ?? "Content"}: ${cut(oneLine(content), SHOWN, "...")}`,
    ...(Object.keys(metadata).length > 0 ? [`  Metadata: ${oneLine(JSON.stringify(metadata))}`] : []),
    `  ${"-".repeat(76)}`,
  ];
}

const LABELS: ReadonlyMap<string, string> = new Map([
  ["task", "Task"],
  ["result", "Result"],
  ["control", "Action"],
]);
