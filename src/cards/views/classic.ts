import type { Card } from "../card/index.ts";
import { oneLine } from "./text-width.ts";

const FRAME = "=".repeat(80);
/** Of a content, in characters; a list is for seeing who said what to whom, not for reading it. */
const SHOWN = 100;

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
    `  ${LABELS.get(message_type) ?? "Content"}: ${shortened(oneLine(content))}`,
    ...(Object.keys(metadata).length > 0 ? [`  Metadata: ${oneLine(JSON.stringify(metadata))}`] : []),
    `  ${"-".repeat(76)}`,
  ];
}

const LABELS: ReadonlyMap<string, string> = new Map([
  ["task", "Task"],
  ["result", "Result"],
  ["control", "Action"],
]);

function shortened(content: string): string {
  const characters = [...content];
  return characters.length > SHOWN ? `${characters.slice(0, SHOWN).join("")}...` : content;
}
