import type { MessageCard } from "../message-card/index.ts";
import { toSingleLine, truncateLine } from "./text-width.ts";

const CARD_LIST_SEPARATOR_LINE = "=".repeat(80);
/**
 * Maximum width of a message card's content in terminal columns. The list truncates long texts of message
 * cards.
 */
const MAX_CONTENT_COLUMNS = 103;

/**
 * Renders message cards as a plain text list (`[Card 1]` and so on), which is suitable for logs and emails.
 */
export function renderPlainTextCardList(cards: readonly MessageCard[]): string {
  return [
    CARD_LIST_SEPARATOR_LINE,
    "A2A CARD COMMUNICATION FLOW",
    CARD_LIST_SEPARATOR_LINE,
    ...cards.flatMap((card, at) => renderCardListEntry(card, at + 1)),
    CARD_LIST_SEPARATOR_LINE,
    `Total Cards: ${cards.length}`,
    CARD_LIST_SEPARATOR_LINE,
  ].join("\n");
}

function renderCardListEntry(card: MessageCard, number: number): string[] {
  const { sender, recipient, message_type, content, metadata, timestamp } = card;
  const { status } = metadata;
  const isResult = message_type === "result" && typeof status === "string";
  return [
    "",
    `[Card ${number}] ${toSingleLine(timestamp)}`,
    `  From: ${toSingleLine(sender).toUpperCase()}`,
    `  To:   ${toSingleLine(recipient).toUpperCase()}`,
    `  Type: ${toSingleLine(message_type).toUpperCase()}`,
    ...(isResult ? [`  Status: ${toSingleLine(status)}`] : []),
    `  ${CONTENT_LABELS_BY_CARD_TYPE.get(message_type) ?? "Content"}: ${truncateLine(content, MAX_CONTENT_COLUMNS, "...")}`,
    ...(Object.keys(metadata).length > 0 ? [`  Metadata: ${toSingleLine(JSON.stringify(metadata))}`] : []),
    `  ${"-".repeat(76)}`,
  ];
}

const CONTENT_LABELS_BY_CARD_TYPE: ReadonlyMap<string, string> = new Map([
  ["task", "Task"],
  ["result", "Result"],
  ["control", "Action"],
]);
