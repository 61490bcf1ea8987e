import type { AgentMessage } from "../../../engine/index.ts";
import { type MessageCard, MESSAGE_CARD_EXTENSION_URI, type QueryCard, toCardParts } from "../../index.ts";
import type { TaskUpdateEvent } from "./durable-turn.ts";

/** Converts message cards to A2A events that contain either message cards or plain text. */
export interface CardEventEncoder {
  /**
   * Whether the requester accepts message cards. If the requester does not accept message cards, the role
   * does not relay message cards from other roles.
   */
  readonly usesCards: boolean;
  /** Encodes a message card as progress of a running task. */
  encodeProgress(card: MessageCard): TaskUpdateEvent;
  /** Encodes a query, which the requester must answer. */
  encodeQuery(card: QueryCard): TaskUpdateEvent;
  /** Encodes the final message card of a task, either a result or an error. */
  encodeFinal(card: MessageCard, wasStopped: boolean): TaskUpdateEvent[];
  /** Encodes an error card that ends the task as `REJECTED`. */
  encodeRejection(card: MessageCard): TaskUpdateEvent;
}

/**
 * Creates a reply encoder for one requester. `usesCards` is true if the requester requests the message card
 * extension or sends message cards.
 */
export function createCardEventEncoder(usesCards: boolean): CardEventEncoder {
  const createMessage = usesCards ? toCardMessage : toTextMessage;
  return {
    usesCards,
    encodeProgress: (card) => ({ status: { state: "TASK_STATE_WORKING", message: createMessage(card) } }),
    encodeQuery: (card) => ({ status: { state: "TASK_STATE_INPUT_REQUIRED", message: createMessage(card) } }),
    encodeRejection: (card) => ({ status: { state: "TASK_STATE_REJECTED", message: createMessage(card) } }),
    encodeFinal(card, wasStopped) {
      const { message_type: type, metadata, content } = card;
      const status = "status" in metadata ? metadata["status"] : undefined;
      const isError = type === "error" || status === "error";
      if (isError) {
        const state = wasStopped ? "TASK_STATE_CANCELED" : "TASK_STATE_FAILED";
        return [{ status: { state, message: createMessage(card) } }];
      }
      // A partial result of a stopped role is an artifact of a canceled task.
      const state = wasStopped && status === "partial" ? "TASK_STATE_CANCELED" : "TASK_STATE_COMPLETED";
      const end: TaskUpdateEvent = { status: { state } };
      // An artifact needs at least one part (A2A §5.7), so an empty text result has no artifact.
      if (!usesCards && content === "") return [end];
      const { card_id } = metadata;
      const { parts, extensions } = createMessage(card);
      const artifact = {
        artifactId: card_id ?? "result-card",
        name: usesCards ? "result-card" : "result",
        parts,
        ...(extensions ? { extensions } : {}),
      };
      return [{ artifact }, end];
    },
  };
}

function toCardMessage(card: MessageCard): AgentMessage {
  const { card_id } = card.metadata;
  return {
    ...(card_id === undefined ? {} : { messageId: card_id }),
    parts: toCardParts(card),
    extensions: [MESSAGE_CARD_EXTENSION_URI],
  };
}

function toTextMessage(card: MessageCard): AgentMessage {
  return { parts: [{ text: formatCardText(card) }] };
}

/**
 * Returns the content of a message card as text. For a query card, the text also lists the options after the
 * content.
 */
export function formatCardText({ content, metadata }: MessageCard): string {
  const { options } = metadata as { options?: readonly string[] };
  return options?.length ? `${content} (${options.join(" | ")})` : content;
}
