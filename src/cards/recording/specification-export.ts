import { type MessageCard, toDict } from "../message-card/index.ts";
import { listRecordedCards } from "./recorded-cards.ts";
import type { Recording } from "./record-lines.ts";

/**
 * Returns all cards in the file format of the specification: a list of cards with six members, in the order
 * of sending.
 */
export function toSpecificationCards(recording: Pick<Recording, "cards">): MessageCard[] {
  return listRecordedCards(recording).map((card) => toDict(card));
}

/**
 * Returns the file name of that list, built from dataset, method, and models: `gsm8k_a2a_claude_cards.json`.
 * Characters that are not allowed in file names become hyphens.
 */
export function formatSpecificationFileName({ run }: Pick<Recording, "run">): string {
  const models = new Set(Object.values(run?.model ?? {}));
  const words = [run?.dataset ?? "cards", run?.method ?? "a2a", [...models].join("+") || "unknown"];
  return `${words.map(sanitizeFileNamePart).join("_")}_cards.json`;
}

/**
 * Replaces all characters that Windows does not allow, and limits the length because file names have at most
 * 255 characters.
 */
function sanitizeFileNamePart(word: string): string {
  return word.replaceAll(/[^A-Za-z0-9.+@-]+/g, "-").slice(0, 64) || "-";
}
