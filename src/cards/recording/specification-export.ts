import { type MessageCard, toDict } from "../message-card/index.ts";
import { listRecordedCards } from "./recorded-cards.ts";
import type { Recording } from "./record-lines.ts";

/** All of the cards as the specification's file has them: a list, each with its six members, in the order of sending. */
export function toSpecificationCards(recording: Pick<Recording, "cards">): MessageCard[] {
  return listRecordedCards(recording).map((card) => toDict(card));
}

/**
 * What that file is called: `gsm8k_a2a_claude_cards.json`, with the run's method and the models of its roles. What may not
 * stand in the name of a file is a hyphen there.
 */
export function formatSpecificationFileName({ run }: Pick<Recording, "run">): string {
  const models = new Set(Object.values(run?.model ?? {}));
  const words = [run?.dataset ?? "cards", run?.method ?? "a2a", [...models].join("+") || "unknown"];
  return `${words.map(sanitizeFileNamePart).join("_")}_cards.json`;
}

/** Windows has the longest list of what is not allowed, and names of 255. */
function sanitizeFileNamePart(word: string): string {
  return word.replaceAll(/[^A-Za-z0-9.+@-]+/g, "-").slice(0, 64) || "-";
}
