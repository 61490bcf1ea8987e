import type { MessageCard } from "../message-card/index.ts";
import {
  type ModelCallLine,
  computeCardTimings,
  type CardTiming,
  type Recording,
  createRecordingFromCards,
  collectRunSamples,
} from "../recording/index.ts";
import {
  type Delegation,
  type DelegationForest,
  buildDelegationForest,
  type WorkSpan,
} from "./delegations.ts";

/** Input of the views: a recording, or a list of cards with the times of their timestamps. */
export type CardsOrRecording = readonly MessageCard[] | Recording;

/** All cards and calls of one problem. */
export interface SampleExchange extends DelegationForest {
  /** ID of the problem, or `undefined` for cards without a problem ID. */
  readonly sampleId: string | undefined;
  readonly timings: readonly CardTiming[];
  readonly calls: readonly ModelCallLine[];
}

/** Returns the exchanges of a run, one for each problem that has cards. */
export function buildSampleExchanges(shown: CardsOrRecording): SampleExchange[] {
  return collectRunSamples(toRecording(shown)).flatMap(({ id, cardLines, calls }) => {
    const timings = computeCardTimings(cardLines);
    return timings.length === 0 ? [] : { sampleId: id, timings, calls, ...buildDelegationForest(timings) };
  });
}

/** Returns all work spans in the order of their start. */
export function listWorkSpans(shown: CardsOrRecording): WorkSpan[] {
  return buildSampleExchanges(shown)
    .flatMap(({ roots }) => flattenDelegations(roots))
    .flatMap(({ workSpans }) => workSpans)
    .toSorted((a, b) => a.start - b.start || a.end - b.end);
}

/** Returns the cards that the two roles of a delegation exchanged about it, the task first and the reply last. */
export function listDelegationCards({ task, relatedCards, reply }: Delegation): MessageCard[] {
  return [task, ...relatedCards.map(({ card }) => card), ...(reply ? [reply] : [])];
}

/** Returns the delegations and all their descendants. Each delegation precedes its subtasks. */
export function flattenDelegations(delegations: readonly Delegation[]): Delegation[] {
  return delegations.flatMap((one) => [one, ...flattenDelegations(one.subtasks)]);
}

/** Returns a recording unchanged, or creates one from a list of cards. */
export function toRecording(shown: CardsOrRecording): Recording {
  return "scores" in shown ? shown : createRecordingFromCards(shown);
}
