import { type MessageCard, toDict } from "../message-card/index.ts";
import { listDistinctRecordedCards } from "./recorded-cards.ts";
import type { Recording } from "./record-line-types.ts";

/**
 * Returns all message cards of a recording in the order they were sent, in the list format of the card
 * specification.
 */
export function listCardsInSpecificationFormat(recording: Pick<Recording, "cards">): MessageCard[] {
  return listDistinctRecordedCards(recording).map((card) => toDict(card));
}

/**
 * Builds the file name for a list of message cards from the dataset, the method, and the models, such as
 * `gsm8k_a2a_claude_cards.json`. Hyphens replace characters that file names cannot contain.
 */
export function formatCardListFileName({ run }: Pick<Recording, "run">): string {
  const models = new Set(Object.values(run?.model ?? {}));
  const words = [run?.dataset ?? "cards", run?.method ?? "a2a", [...models].join("+") || "unknown"];
  return `${words.map(sanitizeFileNamePart).join("_")}_cards.json`;
}

/**
 * Replaces characters that Windows does not allow in file names. The function also limits the length, because
 * file names have at most 255 characters.
 */
function sanitizeFileNamePart(word: string): string {
  return word.replaceAll(/[^A-Za-z0-9.+@-]+/g, "-").slice(0, 64) || "-";
}
