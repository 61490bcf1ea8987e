import type { MessageCard } from "../message-card/index.ts";
import {
  type Delegation,
  type DelegatedTaskForest,
  buildDelegatedTaskForest,
} from "./delegated-task-forest.ts";

/** Returns one forest for each problem of the message cards, in the order of the first card. */
export function buildSampleDelegationForests(cards: readonly MessageCard[]): DelegatedTaskForest[] {
  return [...Map.groupBy(cards, ({ metadata }) => metadata.sample_id).values()].map(buildDelegatedTaskForest);
}

/** Returns the task card, the related message cards, and the reply of a delegation, in this order. */
export function listCardsInDelegation({ task, relatedCards, reply }: Delegation): MessageCard[] {
  return [task, ...relatedCards, ...(reply ? [reply] : [])];
}

/** Returns the delegations and all their descendants, with each delegation before its subtasks. */
export function flattenDelegations(delegations: readonly Delegation[]): Delegation[] {
  return delegations.flatMap((one) => [one, ...flattenDelegations(one.subtasks)]);
}
