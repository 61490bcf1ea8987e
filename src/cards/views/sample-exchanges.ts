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

/** What can be shown: cards alone, by the times that stand on them, or what a run left behind. */
export type CardsOrRecording = readonly MessageCard[] | Recording;

/** All that was said about one problem. */
export interface SampleExchange extends DelegationForest {
  /** The problem; `undefined` of cards that name none. */
  readonly sampleId: string | undefined;
  readonly timings: readonly CardTiming[];
  readonly calls: readonly ModelCallLine[];
}

/** The exchanges of a run, one for each problem that has any card. */
export function buildSampleExchanges(shown: CardsOrRecording): SampleExchange[] {
  return collectRunSamples(toRecording(shown)).flatMap(({ id, cardLines: lines, calls }) => {
    const moments = computeCardTimings(lines);
    return moments.length === 0
      ? []
      : { sampleId: id, timings: moments, calls, ...buildDelegationForest(moments) };
  });
}

/** Who worked from when to when, on which card, in the order in which they began. */
export function listWorkSpans(shown: CardsOrRecording): WorkSpan[] {
  return buildSampleExchanges(shown)
    .flatMap(({ roots }) => flattenDelegations(roots))
    .flatMap(({ workSpans: spans }) => spans)
    .toSorted((a, b) => a.start - b.start || a.end - b.end);
}

/** Returns the cards that the two roles of a delegation exchanged about it, the task first and the reply last. */
export function listDelegationCards({ task, relatedCards, reply }: Delegation): MessageCard[] {
  return [task, ...relatedCards.map(({ card }) => card), ...(reply ? [reply] : [])];
}

/** The delegations and all below them, each before its own. */
export function flattenDelegations(delegations: readonly Delegation[]): Delegation[] {
  return delegations.flatMap((one) => [one, ...flattenDelegations(one.subtasks)]);
}

export function toRecording(shown: CardsOrRecording): Recording {
  return "scores" in shown ? shown : createRecordingFromCards(shown);
}
