import type { CardMetadata, QueryCard, ResultCard } from "../../cards/index.ts";
import type { QueryAnswer } from "../role.ts";
import type { Correspondence } from "./correspondence.ts";
import { defined } from "./defined.ts";

/** What somebody answers; nothing when that fails, which is told to the observer. */
export async function answerOr(
  answer: () => QueryAnswer | undefined | Promise<QueryAnswer | undefined>,
  { office: { observer, role: where } }: Correspondence,
): Promise<QueryAnswer | undefined> {
  try {
    return await answer();
  } catch (error) {
    observer.onError?.({ where, error });
    return undefined;
  }
}

/** The card that answers a question; without an answer it says so, and whoever asked goes on without one. */
export function answerCard(
  { sender, metadata: { card_id: in_reply_to } }: QueryCard,
  given: QueryAnswer | undefined,
  cards: Correspondence,
  spent: CardMetadata = {},
): ResultCard {
  const about = { ...defined({ in_reply_to }), ...selection(given?.selected), ...spent };
  const text = given?.result ?? `${cards.office.role} has no answer to that; go on without one`;
  return cards.result(sender, text, given ? "success" : "error", about);
}

/** The options that were chosen, as a card says it. */
export function selection(selected: QueryAnswer["selected"]): CardMetadata {
  if (selected === undefined) return {};
  return { selected: typeof selected === "string" ? selected : [...selected] };
}
