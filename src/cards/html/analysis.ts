import type { Card } from "../card/index.ts";
import {
  type Bottleneck,
  bottlenecksOf,
  criticalPathOf,
  type Finding,
  findingsOf,
} from "../statistics/index.ts";
import type { Stretch } from "../statistics/index.ts";
import type { PageSample, RunModel, SeenCard } from "./run-model.ts";
import { type SampleSummary, summaryOf } from "./summary.ts";

/** What there is to say of one problem. */
export interface Analysis {
  readonly summary: SampleSummary;
  /** What its answer waited for. */
  readonly path: readonly Stretch[];
  /** The cards of that path. */
  readonly critical: ReadonlySet<Card>;
  readonly findings: readonly Finding[];
}

const known = new WeakMap<PageSample, { readonly of: string; readonly analysis: Analysis }>();

/** Worked out once, and again when there is more of the problem. */
export function analysisOf(sample: PageSample, model: RunModel): Analysis {
  const { id, cards, score } = sample;
  const settled = model.run === undefined || score !== undefined;
  const of = `${sample.version} ${settled}`;
  const before = known.get(sample);
  if (before?.of === of) return before.analysis;
  const path = criticalPathOf(cards);
  const analysis = {
    summary: summaryOf(sample),
    path,
    critical: new Set(path.map(({ card }) => card)),
    findings: findingsOf({
      id: id === "" ? undefined : id,
      cards: cards.map(({ card }) => card),
      moments: cards,
      settled,
    }),
  };
  known.set(sample, { of, analysis });
  return analysis;
}

/** How long the answer took, along the critical path; 0 without an answer. */
export function lengthOf(path: readonly Stretch[]): number {
  return (path.at(-1)?.to ?? 0) - (path[0]?.from ?? 0);
}

/** Where the time of all problems went, the longest first. */
export function waitsOf(model: RunModel): Bottleneck[] {
  return bottlenecksOf(model.samples.map((sample) => analysisOf(sample, model).path));
}

/** What was found in all problems, by its kind. */
export function foundIn(model: RunModel): ReadonlyMap<Finding["kind"], readonly Finding[]> {
  return Map.groupBy(
    model.samples.flatMap((sample) => analysisOf(sample, model).findings),
    ({ kind }) => kind,
  );
}

/** The cards of the critical path, as they are on the page. */
export function criticalOf(sample: PageSample, model: RunModel): ReadonlySet<SeenCard> {
  const { critical } = analysisOf(sample, model);
  return new Set(sample.cards.filter(({ card }) => critical.has(card)));
}
