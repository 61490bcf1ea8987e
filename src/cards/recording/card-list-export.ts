import { type MessageCard, toDict } from "../message-card/index.ts";
import type { Recording } from "./recording.ts";

/**
 * Returns all message cards of a recording in the order they were sent, in the list format of the card
 * specification.
 */
export function listCardsInSpecificationFormat(recording: Pick<Recording, "cards">): MessageCard[] {
  return recording.cards.map((card) => toDict(card));
}

/**
 * Returns the name of the file with a run's message cards, such as `gsm8k_a2a_claude_cards.json` for the run
 * `gsm8k_a2a_claude`. The name contains the run ID, so that no run replaces the file of another run.
 */
export function formatCardListFileName(runId: string): string {
  return `${runId}_cards.json`;
}
