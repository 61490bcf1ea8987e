import type { AgentMessage } from "../../engine/index.ts";
import { type Card, CARD_EXTENSION, type QueryCard, toCardParts } from "../../cards/index.ts";
import type { Said } from "./sitting.ts";

/** How a role says cards to whoever gave it the task: as cards, or in words to one that knows nothing of them. */
export interface Voice {
  /** Whether cards that are not for the caller may be told. */
  readonly speaksCards: boolean;
  /** The task is at work, and a card tells of it. */
  told(card: Card): Said;
  asked(card: QueryCard): Said;
  /** The end of the task: a result, or what went wrong. */
  ended(card: Card, wasStopped: boolean): Said[];
  failed(card: Card): Said;
  refused(card: Card): Said;
}

/** `speaksCards`: the caller asks for the extension, or sends cards. */
export function voiceFor(speaksCards: boolean): Voice {
  const say = speaksCards ? inCards : inWords;
  return {
    speaksCards,
    told: (card) => ({ status: { state: "TASK_STATE_WORKING", message: say(card) } }),
    asked: (card) => ({ status: { state: "TASK_STATE_INPUT_REQUIRED", message: say(card) } }),
    failed: (card) => ({ status: { state: "TASK_STATE_FAILED", message: say(card) } }),
    refused: (card) => ({ status: { state: "TASK_STATE_REJECTED", message: say(card) } }),
    ended(card, wasStopped) {
      const { message_type: type, metadata, content } = card;
      const status = "status" in metadata ? metadata["status"] : undefined;
      const isError = type === "error" || status === "error";
      if (isError) {
        const state = wasStopped ? "TASK_STATE_CANCELED" : "TASK_STATE_FAILED";
        return [{ status: { state, message: say(card) } }];
      }
      // What a stopped role has so far is an artifact of a task that was canceled all the same.
      const state = wasStopped && status === "partial" ? "TASK_STATE_CANCELED" : "TASK_STATE_COMPLETED";
      const end: Said = { status: { state } };
      // An artifact has something in it (A2A §5.7), and nothing is a result, too.
      if (!speaksCards && content === "") return [end];
      const { card_id } = metadata;
      const { parts, extensions } = say(card);
      const artifact = {
        artifactId: card_id ?? "result-card",
        name: speaksCards ? "result-card" : "result",
        parts,
        ...(extensions ? { extensions } : {}),
      };
      return [{ artifact }, end];
    },
  };
}

function inCards(card: Card): AgentMessage {
  const { card_id } = card.metadata;
  return {
    ...(card_id === undefined ? {} : { messageId: card_id }),
    parts: toCardParts(card),
    extensions: [CARD_EXTENSION],
  };
}

function inWords({ content, metadata }: Card): AgentMessage {
  const { options } = metadata as { options?: readonly string[] };
  const text = options?.length ? `${content} (${options.join(" | ")})` : content;
  return { parts: [{ text }] };
}
