import type { MessageCard } from "../message-card/index.ts";
import {
  type Bottleneck,
  computeBottlenecks,
  computeCriticalPath,
  type RunFinding,
  detectRunFindings,
} from "../statistics/index.ts";
import type { CriticalPathSegment } from "../statistics/index.ts";
import type { PageSample, RunModel, PageCard } from "./run-model.ts";
import { type SampleSummary, summarizeSample } from "./sample-summary.ts";

/** What there is to say of one problem. */
export interface SampleAnalysis {
  readonly summary: SampleSummary;
  /** What its answer waited for. */
  readonly criticalPath: readonly CriticalPathSegment[];
  /** The cards of that path. */
  readonly criticalCards: ReadonlySet<MessageCard>;
  readonly findings: readonly RunFinding[];
}

const analysisCache = new WeakMap<PageSample, { readonly of: string; readonly analysis: SampleAnalysis }>();

/** Worked out once, and again when there is more of the problem. */
export function analyzeSample(sample: PageSample, model: RunModel): SampleAnalysis {
  const { id, cards, score } = sample;
  const settled = model.run === undefined || score !== undefined;
  const of = `${sample.version} ${settled}`;
  const before = analysisCache.get(sample);
  if (before?.of === of) return before.analysis;
  const path = computeCriticalPath(cards);
  const analysis = {
    summary: summarizeSample(sample),
    criticalPath: path,
    criticalCards: new Set(path.map(({ card }) => card)),
    findings: detectRunFindings({
      id: id === "" ? undefined : id,
      cards: cards.map(({ card }) => card),
      timings: cards,
      isSettled: settled,
    }),
  };
  analysisCache.set(sample, { of, analysis });
  return analysis;
}

/** Where the time of all problems went, the longest first. */
export function computeRunBottlenecks(model: RunModel): Bottleneck[] {
  return computeBottlenecks(model.samples.map((sample) => analyzeSample(sample, model).criticalPath));
}

/** What was found in all problems, by its kind. */
export function groupRunFindings(model: RunModel): ReadonlyMap<RunFinding["kind"], readonly RunFinding[]> {
  return Map.groupBy(
    model.samples.flatMap((sample) => analyzeSample(sample, model).findings),
    ({ kind }) => kind,
  );
}

/** The cards of the critical path, as they are on the page. */
export function collectCriticalCards(sample: PageSample, model: RunModel): ReadonlySet<PageCard> {
  const { criticalCards: critical } = analyzeSample(sample, model);
  return new Set(sample.cards.filter(({ card }) => critical.has(card)));
}
