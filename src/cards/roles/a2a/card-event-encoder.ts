import { omitUndefined } from "../../../base/usage-checks/index.ts";
import type { AgentMessage } from "../../../engine/index.ts";
import { type MessageCard, MESSAGE_CARD_EXTENSION_URI, toCardParts } from "../../index.ts";
import type { TaskUpdateEvent, TaskUpdateState } from "./durable-turn.ts";

/** Converts message cards to A2A events that contain either message cards or plain text. */
export class CardEventEncoder {
  /**
   * Whether the requester accepts message cards. If the requester does not accept message cards, the role
   * does not relay message cards from other roles.
   */
  readonly usesCards: boolean;

  /** `usesCards` is true if the requester requests the message card extension or sends message cards. */
  constructor(usesCards: boolean) {
    this.usesCards = usesCards;
  }

  /** Encodes a message card as a new state of the task, such as progress, a query, or a rejection. */
  encodeStatus(state: TaskUpdateState, card: MessageCard): TaskUpdateEvent {
    return { status: { state, message: this.#createMessage(card) } };
  }

  /** Encodes the final message card of a task, either a result or an error. */
  encodeFinal(card: MessageCard, wasStopped: boolean): TaskUpdateEvent[] {
    const { message_type: type, metadata, content } = card;
    const status = "status" in metadata ? metadata["status"] : undefined;
    if (type === "error" || status === "error")
      return [this.encodeStatus(wasStopped ? "TASK_STATE_CANCELED" : "TASK_STATE_FAILED", card)];
    // A partial result of a stopped role is an artifact of a canceled task.
    const state = wasStopped && status === "partial" ? "TASK_STATE_CANCELED" : "TASK_STATE_COMPLETED";
    const end: TaskUpdateEvent = { status: { state } };
    // An artifact needs at least one part (A2A §5.7), so an empty text result has no artifact.
    if (!this.usesCards && content === "") return [end];
    const { messageId: artifactId = metadata.card_id ?? "result-card", ...message } =
      this.#createMessage(card);
    return [{ artifact: { artifactId, name: this.usesCards ? "result-card" : "result", ...message } }, end];
  }

  #createMessage(card: MessageCard): Pick<AgentMessage, "messageId" | "parts" | "extensions"> {
    if (!this.usesCards) return { parts: [{ text: formatCardText(card) }] };
    const messageId = omitUndefined({ messageId: card.metadata.card_id });
    return { ...messageId, parts: toCardParts(card), extensions: [MESSAGE_CARD_EXTENSION_URI] };
  }
}

/**
 * Returns the content of a message card as text. For a query card, the text also lists the options after the
 * content.
 */
export function formatCardText({ content, metadata }: MessageCard): string {
  const { options } = metadata as { options?: readonly string[] };
  return options?.length ? `${content} (${options.join(" | ")})` : content;
}
