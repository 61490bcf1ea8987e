import type { AgentMessage } from "../../engine/index.ts";
import {
  type MessageCard,
  MESSAGE_CARD_EXTENSION_URI,
  type QueryCard,
  toCardParts,
} from "../../cards/index.ts";
import type { TaskUpdateEvent } from "./resumable-work.ts";

/** How a role says cards to whoever gave it the task: as cards, or in words to one that knows nothing of them. */
export interface ReplyEncoder {
  /** Whether cards that are not for the caller may be told. */
  readonly usesCards: boolean;
  /** The task is at work, and a card tells of it. */
  encodeProgress(card: MessageCard): TaskUpdateEvent;
  encodeQuery(card: QueryCard): TaskUpdateEvent;
  /** The end of the task: a result, or what went wrong. */
  encodeFinal(card: MessageCard, wasStopped: boolean): TaskUpdateEvent[];
  encodeFailure(card: MessageCard): TaskUpdateEvent;
  encodeRejection(card: MessageCard): TaskUpdateEvent;
}

/** `usesCards`: the caller asks for the extension, or sends cards. */
export function createReplyEncoder(usesCards: boolean): ReplyEncoder {
  const createMessage = usesCards ? toCardMessage : toTextMessage;
  return {
    usesCards,
    encodeProgress: (card) => ({ status: { state: "TASK_STATE_WORKING", message: createMessage(card) } }),
    encodeQuery: (card) => ({ status: { state: "TASK_STATE_INPUT_REQUIRED", message: createMessage(card) } }),
    encodeFailure: (card) => ({ status: { state: "TASK_STATE_FAILED", message: createMessage(card) } }),
    encodeRejection: (card) => ({ status: { state: "TASK_STATE_REJECTED", message: createMessage(card) } }),
    encodeFinal(card, wasStopped) {
      const { message_type: type, metadata, content } = card;
      const status = "status" in metadata ? metadata["status"] : undefined;
      const isError = type === "error" || status === "error";
      if (isError) {
        const state = wasStopped ? "TASK_STATE_CANCELED" : "TASK_STATE_FAILED";
        return [{ status: { state, message: createMessage(card) } }];
      }
      // What a stopped role has so far is an artifact of a task that was canceled all the same.
      const state = wasStopped && status === "partial" ? "TASK_STATE_CANCELED" : "TASK_STATE_COMPLETED";
      const end: TaskUpdateEvent = { status: { state } };
      // An artifact has something in it (A2A §5.7), and nothing is a result, too.
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

function toTextMessage({ content, metadata }: MessageCard): AgentMessage {
  const { options } = metadata as { options?: readonly string[] };
  const text = options?.length ? `${content} (${options.join(" | ")})` : content;
  return { parts: [{ text }] };
}
