import type { MessageCard } from "../message-card/index.ts";
import { buildDelegationForest } from "../views/delegations.ts";
import { flattenDelegations, listDelegationCards } from "../views/sample-exchanges.ts";
import type { PageCard } from "./run-model.ts";

/** What each card came of; a card that began something has none. */
export type CardCauses = ReadonlyMap<PageCard, readonly PageCard[]>;

/**
 * An answer to a question comes of the question. Whatever else a role sends in the course of a task comes of all that has
 * come back to it since it last sent something, else of what that came of: parallel tasks share their cause, and their
 * results meet in what follows. `cards` are of one problem, in the order in which they were sent.
 */
export function computeCardCauses(cards: readonly PageCard[]): CardCauses {
  const seenAs = new Map(cards.map((seen) => [seen.card, seen]));
  const order = new Map(cards.map((seen, at) => [seen, at]));
  const inOrder = (some: readonly MessageCard[]): PageCard[] =>
    some
      .flatMap((card) => seenAs.get(card) ?? [])
      .toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));

  const causes = new Map<PageCard, readonly PageCard[]>();
  const { roots } = buildDelegationForest(cards);
  for (const [asker, own] of Map.groupBy(roots, ({ task }) => task.sender))
    assignCauses(asker, [], inOrder(own.flatMap(listDelegationCards)), causes);
  for (const one of flattenDelegations(roots)) {
    const [, ...about] = listDelegationCards(one);
    const cards = [...about, ...one.subtasks.flatMap(listDelegationCards)];
    assignCauses(one.task.recipient, inOrder([one.task]), inOrder(cards), causes);
  }
  return causes;
}

/** The course of one task, as the role that works on it sends and receives. */
function assignCauses(
  role: string,
  begin: readonly PageCard[],
  cards: readonly PageCard[],
  causes: Map<PageCard, readonly PageCard[]>,
): void {
  let last = begin;
  let fresh: PageCard[] = [];
  for (const seen of cards) {
    const { sender, recipient, metadata } = seen.card;
    if (sender === role && !causes.has(seen)) {
      const question = fresh.find(
        ({ card }) => card.message_type === "query" && card.metadata.card_id === metadata.in_reply_to,
      );
      const came = question ? [question] : fresh.filter(({ arrivedMs: arrived }) => arrived <= seen.sentMs);
      if (!question && came.length > 0) last = came;
      causes.set(seen, question ? came : last);
      fresh = fresh.filter((other) => !came.includes(other));
    } else if (recipient === role) fresh.push(seen);
  }
}
