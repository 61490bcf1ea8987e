import {
  buildDelegatedTaskForest,
  flattenDelegations,
  listCardsInDelegation,
  type MessageCard,
} from "../../../../cards/index.ts";
import type { PageCard } from "./run-model.ts";

/**
 * Maps each message card to the message cards that caused it. The first message card of an exchange has no
 * causes.
 */
type CardCauses = ReadonlyMap<PageCard, readonly PageCard[]>;

/**
 * Computes the causes of each message card of one problem. The cause of a reply to a query is the query card.
 * If a message card is not a reply to a query, its causes are the cards that the sender received since the
 * sender's previous card. If a role sends two message cards and receives no card in between, the two sent
 * cards have the same causes. `cards` must belong to one problem and be sorted by sending time.
 */
export function computeCardCauses(cards: readonly PageCard[]): CardCauses {
  const pageCardByCard = new Map(cards.map((seen) => [seen.card, seen]));
  const order = new Map(cards.map((seen, at) => [seen, at]));
  const toSortedPageCards = (unsorted: readonly MessageCard[]): PageCard[] =>
    unsorted
      .flatMap((card) => pageCardByCard.get(card) ?? [])
      .toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));

  const causes = new Map<PageCard, readonly PageCard[]>();
  const { roots } = buildDelegatedTaskForest(cards);
  for (const [requester, delegations] of Map.groupBy(roots, ({ task }) => task.sender))
    assignCauses(requester, [], toSortedPageCards(delegations.flatMap(listCardsInDelegation)), causes);
  for (const one of flattenDelegations(roots)) {
    const [, ...otherCards] = listCardsInDelegation(one);
    const cards = [...otherCards, ...one.subtasks.flatMap(listCardsInDelegation)];
    assignCauses(one.task.recipient, toSortedPageCards([one.task]), toSortedPageCards(cards), causes);
  }
  return causes;
}

function assignCauses(
  role: string,
  initialCauses: readonly PageCard[],
  cards: readonly PageCard[],
  causes: Map<PageCard, readonly PageCard[]>,
): void {
  let lastCauses = initialCauses;
  let received: PageCard[] = [];
  for (const seen of cards) {
    const { sender, recipient, metadata } = seen.card;
    if (sender === role && !causes.has(seen)) {
      const question = received.find(
        ({ card }) => card.message_type === "query" && card.metadata.card_id === metadata.in_reply_to,
      );
      const newCauses = question ? [question] : received.filter(({ arrivedMs }) => arrivedMs <= seen.sentMs);
      if (!question && newCauses.length > 0) lastCauses = newCauses;
      causes.set(seen, question ? newCauses : lastCauses);
      received = received.filter((other) => !newCauses.includes(other));
    } else if (recipient === role) received.push(seen);
  }
}
