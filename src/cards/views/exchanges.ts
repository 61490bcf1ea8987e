import type { Card } from "../card/index.ts";
import {
  type CallLine,
  momentsOf,
  type Moments,
  type Recording,
  recordingOfCards,
  samplesOf,
} from "../record/index.ts";
import { type Delegation, type Delegations, delegationsOf, type Span } from "./delegations.ts";

/** What can be shown: cards alone, by the times that stand on them, or what a run left behind. */
export type Shown = readonly Card[] | Recording;

/** All that was said about one problem. */
export interface Exchange extends Delegations {
  /** The problem; `undefined` of cards that name none. */
  readonly sampleId: string | undefined;
  readonly moments: readonly Moments[];
  readonly calls: readonly CallLine[];
}

/** The exchanges of a run, one for each problem that has any card. */
export function exchangesOf(shown: Shown): Exchange[] {
  return samplesOf(recordingOf(shown)).flatMap(({ id, lines, calls }) => {
    const moments = momentsOf(lines);
    return moments.length === 0 ? [] : { sampleId: id, moments, calls, ...delegationsOf(moments) };
  });
}

/** Who worked from when to when, on which card, in the order in which they began. */
export function spansOf(shown: Shown): Span[] {
  return exchangesOf(shown)
    .flatMap(({ roots }) => allOf(roots))
    .flatMap(({ spans }) => spans)
    .toSorted((a, b) => a.start - b.start || a.end - b.end);
}

/** The delegations and all below them, each before its own. */
export function allOf(delegations: readonly Delegation[]): Delegation[] {
  return delegations.flatMap((one) => [one, ...allOf(one.subtasks)]);
}

export function recordingOf(shown: Shown): Recording {
  return "scores" in shown ? shown : recordingOfCards(shown);
}
