import { getCardTypeClass, toSingleLine } from "../../../../cards/index.ts";
import type { SequenceActivation, SequenceMessage } from "../../flow/sequence-layout.ts";
import { formatCount, formatDuration } from "../text-format.ts";
import { type PageCard, countCardTokens, findCardStatusOrErrorType, listRolesInCards } from "./run-model.ts";

/**
 * Drawings of the message cards of one problem. The key of a card in each drawing is its number within the
 * problem, starting at 1.
 */
interface CardSequence {
  readonly participants: readonly string[];
  readonly messages: readonly SequenceMessage[];
  readonly activations: readonly SequenceActivation[];
}

/** Returns the key of a message card in all drawings. */
export function formatCardKey(index: number): string {
  return String(index + 1);
}

/** Builds a sequence diagram with one message for each card, in the order the cards were sent. */
export function buildCardSequence(cards: readonly PageCard[]): CardSequence {
  const rows = new Map(
    cards.map(({ card }, index) => [card.message_type === "task" && card.metadata.card_id, index]),
  );
  return {
    participants: listRolesInCards(cards.map(({ card }) => card)),
    messages: cards.map((seen, index): SequenceMessage => {
      const { card, sentMs } = seen;
      const previous = cards[index - 1];
      return {
        key: formatCardKey(index),
        from: card.sender,
        to: card.recipient,
        label: card.content,
        notes: formatCardNotes(seen),
        colorClass: getCardTypeClass(card.message_type),
        delayMs: previous && sentMs - previous.sentMs,
        description: describeCard(seen, index),
        isDashed: card.message_type === "result",
        isCritical: false,
      };
    }),
    activations: cards.flatMap(({ card }, toRow) => {
      const fromRow = rows.get(card.metadata.in_reply_to ?? "");
      const isReply = card.message_type === "result" || card.message_type === "error";
      return isReply && fromRow !== undefined ? [{ participant: card.sender, fromRow, toRow }] : [];
    }),
  };
}

function formatCardNotes(seen: PageCard): string {
  const { card } = seen;
  const status = findCardStatusOrErrorType(card);
  return [
    card.message_type,
    ...(status === undefined ? [] : [status]),
    ...(card.metadata["forced"] === true ? ["forced"] : []),
    ...listCardTimesAndTokens(seen),
  ].join(" · ");
}

function listCardTimesAndTokens({ card }: PageCard): string[] {
  const tokens = countCardTokens(card);
  return [
    ...(tokens > 0 ? [`${formatCount(tokens)} tok`] : []),
    ...(card.metadata.duration_ms ? [formatDuration(card.metadata.duration_ms)] : []),
  ];
}

function describeCard({ card }: PageCard, index: number): string {
  const { sender, recipient, message_type, content } = card;
  return toSingleLine(
    `Card ${index + 1}, ${message_type} from ${sender} to ${recipient}: ${content.slice(0, 200)}`,
  );
}
