import type { CardMetadata, QueryCard, ResultCard } from "../../cards/index.ts";
import type { QueryAnswer } from "../role.ts";
import type { CardJournal } from "./card-journal.ts";
import { omitUndefined } from "./omit-undefined.ts";

/** What somebody answers; nothing when that fails, which is told to the observer. */
export async function tryAnswerQuery(
  answer: () => QueryAnswer | undefined | Promise<QueryAnswer | undefined>,
  { runtime: { observer, role } }: CardJournal,
): Promise<QueryAnswer | undefined> {
  try {
    return await answer();
  } catch (error) {
    observer.onError?.({ where: role, error });
    return undefined;
  }
}

/** The card that answers a question; without an answer it says so, and whoever asked goes on without one. */
export function createAnswerCard(
  { sender, metadata: { card_id: in_reply_to } }: QueryCard,
  answer: QueryAnswer | undefined,
  journal: CardJournal,
  spent: CardMetadata = {},
): ResultCard {
  const metadata = {
    ...omitUndefined({ in_reply_to }),
    ...buildSelectionMetadata(answer?.selected),
    ...spent,
  };
  const text = answer?.result ?? `${journal.runtime.role} has no answer to that; go on without one`;
  return journal.createResultCard(sender, text, answer ? "success" : "error", metadata);
}

/** The options that were chosen, as a card says it. */
export function buildSelectionMetadata(selected: QueryAnswer["selected"]): CardMetadata {
  if (selected === undefined) return {};
  return { selected: typeof selected === "string" ? selected : [...selected] };
}
