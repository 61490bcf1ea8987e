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

export interface DelegatedTaskForest {
  /** Delegations that have no parent task. */
  readonly roots: readonly Delegation[];
  /** Message cards that belong to no task. */
  readonly unassigned: readonly MessageCard[];
}

/**
 * Groups the message cards of one problem into delegated tasks with their replies, subtasks, and related
 * cards. A message card with `in_reply_to` belongs to the task of the referenced card. If a message card has
 * no `in_reply_to`, the function infers the task from the sender and the recipient. `cards` must be sorted
 * by sending time.
 */
export function buildDelegatedTaskForest(cards: readonly MessageCard[]): DelegatedTaskForest {
  const all: DelegationUnderConstruction[] = [];
  const byId = new Map<string, DelegationUnderConstruction>();
  const unassigned: MessageCard[] = [];
  for (const card of cards) {
    const { card_id, in_reply_to } = card.metadata;
    const named = in_reply_to === undefined ? undefined : byId.get(in_reply_to);
    let owner: DelegationUnderConstruction | undefined;
    if (card.message_type === "task") {
      owner = { task: card, reply: undefined, subtasks: [], relatedCards: [] };
      (
        named ??
        all.findLast(
          (other) => isUnansweredDelegation(other) && getDelegationRecipient(other) === card.sender,
        )
      )?.subtasks.push(owner);
      all.push(owner);
    } else {
      owner = named ?? guessDelegationForUnlinkedCard(card, all);
      if (!owner) unassigned.push(card);
      else if (isUnansweredDelegation(owner) && isReplyThatEndsTask(card, owner, named !== undefined))
        owner.reply = card;
      else owner.relatedCards.push(card);
    }
    if (card_id !== undefined && owner) byId.set(card_id, owner);
  }
  const subtasks = new Set(all.flatMap(({ subtasks }) => subtasks));
  return { roots: all.filter((one) => !subtasks.has(one)).map(buildDelegation), unassigned };
}

interface DelegationUnderConstruction {
  readonly task: MessageCard;
  reply: MessageCard | undefined;
  readonly subtasks: DelegationUnderConstruction[];
  readonly relatedCards: MessageCard[];
}

function isUnansweredDelegation(one: DelegationUnderConstruction): boolean {
  return one.reply === undefined;
}

function getDelegationRecipient({ task }: DelegationUnderConstruction): string {
  return task.recipient;
}

/**
 * Returns whether a message card ends a task. Every direct reply ends its task unless the reply is a query or
 * a control card.
 */
function isReplyThatEndsTask(
  card: MessageCard,
  { task }: DelegationUnderConstruction,
  isNamed: boolean,
): boolean {
  if (!isNamed) return card.message_type === "result" && card.sender === task.recipient;
  return (
    card.metadata.in_reply_to === task.metadata.card_id &&
    card.message_type !== "query" &&
    card.message_type !== "control"
  );
}

/** Guesses the task of a message card that does not refer to another card. */
function guessDelegationForUnlinkedCard(
  card: MessageCard,
  all: readonly DelegationUnderConstruction[],
): DelegationUnderConstruction | undefined {
  const comesBack = ({ task }: DelegationUnderConstruction): boolean =>
    card.sender === task.recipient && card.recipient === task.sender;
  const goesOut = ({ task }: DelegationUnderConstruction): boolean =>
    card.sender === task.sender && card.recipient === task.recipient;
  // The longest pending task has priority.
  if (card.message_type === "result") return all.find((one) => isUnansweredDelegation(one) && comesBack(one));
  const between = all.filter((one) => comesBack(one) || goesOut(one));
  return between.findLast(isUnansweredDelegation) ?? between.at(-1);
}

function buildDelegation({ task, reply, subtasks, relatedCards }: DelegationUnderConstruction): Delegation {
  return { task, reply, subtasks: subtasks.map(buildDelegation), relatedCards };
}
