import type { MessageCard } from "../message-card/index.ts";
import {
  type ModelCallLine,
  computeCardTransitTimes,
  type CardTransitTimes,
  type Recording,
  createRecordingFromCards,
  collectRecordedSamples,
} from "../recording/index.ts";
import {
  type Delegation,
  type DelegatedTaskForest,
  buildDelegatedTaskForest,
  type WorkSpan,
} from "./delegated-task-forest.ts";

/** A recording or a list of message cards. For a list, the times are the timestamps of the message cards. */
export type CardsOrRecording = readonly MessageCard[] | Recording;

/** All message cards and model calls of one problem. */
export interface SampleDelegationForest extends DelegatedTaskForest {
  /** ID of the problem, or `undefined` for message cards without a problem ID. */
  readonly sampleId: string | undefined;
  readonly timings: readonly CardTransitTimes[];
  readonly calls: readonly ModelCallLine[];
}

/** Returns one exchange for each problem that has message cards. */
export function buildSampleDelegationForests(shown: CardsOrRecording): SampleDelegationForest[] {
  return collectRecordedSamples(convertCardsToRecording(shown)).flatMap(({ id, cardLines, calls }) => {
    const timings = computeCardTransitTimes(cardLines);
    return timings.length === 0 ? [] : { sampleId: id, timings, calls, ...buildDelegatedTaskForest(timings) };
  });
}

/** Returns the work spans of all roles, sorted by start time. */
export function listWorkSpans(shown: CardsOrRecording): WorkSpan[] {
  return buildSampleDelegationForests(shown)
    .flatMap(({ roots }) => flattenDelegations(roots))
    .flatMap(({ workSpans }) => workSpans)
    .toSorted((a, b) => a.start - b.start || a.end - b.end);
}

/** Returns the task card, the related message cards, and the reply of a delegation, in this order. */
export function listCardsInDelegation({ task, relatedCards, reply }: Delegation): MessageCard[] {
  return [task, ...relatedCards.map(({ card }) => card), ...(reply ? [reply] : [])];
}

/** Returns the delegations and all their descendants, with each delegation before its subtasks. */
export function flattenDelegations(delegations: readonly Delegation[]): Delegation[] {
  return delegations.flatMap((one) => [one, ...flattenDelegations(one.subtasks)]);
}

/** Returns a recording unchanged, or creates a recording from a list of message cards. */
export function convertCardsToRecording(shown: CardsOrRecording): Recording {
  return "scores" in shown ? shown : createRecordingFromCards(shown);
}
