import { omitUndefined } from "../../../base/usage-checks/index.ts";
import type { CardMetadata, QueryCard, ResultCard } from "../../index.ts";
import type { QueryAnswer } from "../role.ts";
import type { CardJournal } from "./card-journal.ts";

/**
 * Calls a callback with a query and returns the answer. If the callback throws, the function reports the
 * error to the observer and returns `undefined`.
 */
export async function getQueryAnswerOrReportError(
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

/**
 * Creates the result card that answers a query. If there is no answer, the result card has the status
 * `error`, and the role that sent the query continues.
 */
export function createQueryAnswerCard(
  { sender, metadata: { card_id: in_reply_to } }: QueryCard,
  answer: QueryAnswer | undefined,
  journal: CardJournal,
  spent: CardMetadata = {},
): ResultCard {
  const metadata = {
    ...omitUndefined({ in_reply_to }),
    ...toSelectedQueryOptionsMetadata(answer?.selected),
    ...spent,
  };
  const text = answer?.result ?? `${journal.runtime.role} has no answer to this query; continue without one`;
  return journal.createResultCard(sender, text, answer ? "success" : "error", metadata);
}

/** Returns message card metadata with the selected query options. */
export function toSelectedQueryOptionsMetadata(selected: QueryAnswer["selected"]): CardMetadata {
  if (selected === undefined) return {};
  return { selected: typeof selected === "string" ? selected : [...selected] };
}
