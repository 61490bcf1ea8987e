import type { MessageCard } from "../message-card/index.ts";

/** Task that one role delegated to another, with all related message cards. */
export interface Delegation {
  readonly task: MessageCard;
  /** Message card that ended the task, or `undefined` if the task has no reply. */
  readonly reply: MessageCard | undefined;
  /** Tasks that the worker delegated to other roles. */
  readonly subtasks: readonly Delegation[];
  /**
   * Queries, query replies, control cards, and notices that the requester and the worker exchanged about the
   * task.
   */
  readonly relatedCards: readonly MessageCard[];
}

interface DelegationDraft extends Delegation {
  reply: MessageCard | undefined;
  readonly subtasks: DelegationDraft[];
  readonly relatedCards: MessageCard[];
}

/**
 * Groups the message cards of each problem into delegated tasks with their replies, subtasks, and related cards.
 * Returns the tasks without a parent task. A message card with `in_reply_to` belongs to the task of the referenced
 * card. If a message card has no `in_reply_to`, the function infers the task from the sender and the recipient.
 * `cards` must be sorted by sending time.
 */
export function buildDelegations(cards: readonly MessageCard[]): Delegation[] {
  return [...Map.groupBy(cards, ({ metadata }) => metadata.sample_id).values()].flatMap(
    buildSampleDelegations,
  );
}

/** Returns the delegations and all their descendants, with each delegation before its subtasks. */
export function flattenDelegations(delegations: readonly Delegation[]): Delegation[] {
  return delegations.flatMap((one) => [one, ...flattenDelegations(one.subtasks)]);
}

/**
 * Maps replies to task numbers. A reply has an entry only if several tasks between its two roles were pending
 * at the same time.
 */
export function mapConcurrentRepliesToTaskNumbers(cards: readonly MessageCard[]): Map<MessageCard, number> {
  const positions = new Map(cards.map((card, at) => [card, at]));
  const tasks = flattenDelegations(buildDelegations(cards)).flatMap(({ task, reply }) => {
    const { sender, recipient, metadata } = task;
    const key = JSON.stringify([sender, recipient, metadata.sample_id]);
    return reply ? [{ key, reply, from: positions.get(task) ?? 0, to: positions.get(reply) ?? 0 }] : [];
  });
  const concurrent = tasks.filter((one) =>
    tasks.some(
      (other) => other !== one && other.key === one.key && other.from < one.to && one.from < other.to,
    ),
  );
  return new Map(concurrent.map(({ reply, from }) => [reply, from + 1]));
}

function buildSampleDelegations(cards: readonly MessageCard[]): Delegation[] {
  const all: DelegationDraft[] = [];
  const roots: DelegationDraft[] = [];
  const byId = new Map<string, DelegationDraft>();
  for (const card of cards) {
    const { card_id, in_reply_to } = card.metadata;
    const named = in_reply_to === undefined ? undefined : byId.get(in_reply_to);
    let owner: DelegationDraft | undefined;
    if (card.message_type === "task") {
      owner = { task: card, reply: undefined, subtasks: [], relatedCards: [] };
      const parent = named ?? all.findLast(({ reply, task }) => !reply && task.recipient === card.sender);
      (parent?.subtasks ?? roots).push(owner);
      all.push(owner);
    } else {
      owner = named ?? guessDelegation(card, all);
      if (owner && !owner.reply && endsTask(card, owner, named !== undefined)) owner.reply = card;
      else owner?.relatedCards.push(card);
    }
    if (card_id !== undefined && owner) byId.set(card_id, owner);
  }
  return roots;
}

/**
 * Returns whether a message card ends a task. Every direct reply ends its task unless the reply is a query or
 * a control card.
 */
function endsTask(
  { message_type, sender, metadata }: MessageCard,
  { task }: Delegation,
  isNamed: boolean,
): boolean {
  if (!isNamed) return message_type === "result" && sender === task.recipient;
  return (
    metadata.in_reply_to === task.metadata.card_id && message_type !== "query" && message_type !== "control"
  );
}

/** Guesses the task of a message card that does not refer to another card. */
function guessDelegation(card: MessageCard, all: readonly DelegationDraft[]): DelegationDraft | undefined {
  const comesBack = ({ task }: Delegation): boolean =>
    card.sender === task.recipient && card.recipient === task.sender;
  const goesOut = ({ task }: Delegation): boolean =>
    card.sender === task.sender && card.recipient === task.recipient;
  // The longest pending task has priority.
  if (card.message_type === "result") return all.find((one) => !one.reply && comesBack(one));
  const between = all.filter((one) => comesBack(one) || goesOut(one));
  return between.findLast(({ reply }) => !reply) ?? between.at(-1);
}
