import type { Card } from "../card/index.ts";
import { type Delegation, delegationsOf } from "../views/delegations.ts";
import { allOf } from "../views/exchanges.ts";
import type { SeenCard } from "./run-model.ts";

/** What each card came of; a card that began something has none. */
export type Causes = ReadonlyMap<SeenCard, readonly SeenCard[]>;

/**
 * An answer to a question comes of the question. Whatever else a role sends in the course of a task comes of all that has
 * come back to it since it last sent something, else of what that came of: parallel tasks share their cause, and their
 * results meet in what follows. `cards` are of one problem, in the order in which they were sent.
 */
export function causesOf(cards: readonly SeenCard[]): Causes {
  const seenAs = new Map(cards.map((seen) => [seen.card, seen]));
  const order = new Map(cards.map((seen, at) => [seen, at]));
  const inOrder = (some: readonly Card[]): SeenCard[] =>
    some
      .flatMap((card) => seenAs.get(card) ?? [])
      .toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));

  const causes = new Map<SeenCard, readonly SeenCard[]>();
  const { roots } = delegationsOf(cards);
  for (const [asker, own] of Map.groupBy(roots, ({ task }) => task.sender))
    workThrough(asker, [], inOrder(own.flatMap(saidAbout)), causes);
  for (const one of allOf(roots)) {
    const [, ...about] = saidAbout(one);
    const cards = [...about, ...one.subtasks.flatMap(saidAbout)];
    workThrough(one.task.recipient, inOrder([one.task]), inOrder(cards), causes);
  }
  return causes;
}

/** Everything that went to and fro between the two of a task; the task first. */
function saidAbout({ task, asides, reply }: Delegation): Card[] {
  return [task, ...asides.map(({ card }) => card), ...(reply ? [reply] : [])];
}

/** The course of one task, as the role that works on it sends and receives. */
function workThrough(
  role: string,
  begin: readonly SeenCard[],
  cards: readonly SeenCard[],
  causes: Map<SeenCard, readonly SeenCard[]>,
): void {
  let last = begin;
  let fresh: SeenCard[] = [];
  for (const seen of cards) {
    const { sender, recipient, metadata } = seen.card;
    if (sender === role && !causes.has(seen)) {
      const question = fresh.find(
        ({ card }) => card.message_type === "query" && card.metadata.card_id === metadata.in_reply_to,
      );
      const came = question ? [question] : fresh.filter(({ arrived }) => arrived <= seen.sent);
      if (!question && came.length > 0) last = came;
      causes.set(seen, question ? came : last);
      fresh = fresh.filter((other) => !came.includes(other));
    } else if (recipient === role) fresh.push(seen);
  }
}
