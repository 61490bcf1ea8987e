import type { MessageCard } from "../message-card/index.ts";
import {
  type CriticalPathBottleneck,
  computeBottlenecks,
  computeCriticalPath,
  type RunFinding,
  detectRunFindings,
} from "../statistics/index.ts";
import type { CriticalPathSegment } from "../statistics/index.ts";
import type { PageSample, RunModel, PageCard } from "./run-model.ts";
import { type SampleSummary, summarizeSample } from "./sample-summary.ts";

/** Critical path and findings of one problem. */
export interface SampleCriticalPathAndFindings {
  readonly summary: SampleSummary;
  readonly criticalPath: readonly CriticalPathSegment[];
  /** Message cards on the critical path. */
  readonly criticalCards: ReadonlySet<MessageCard>;
  readonly findings: readonly RunFinding[];
}

const analysisCache = new WeakMap<
  PageSample,
  { readonly key: string; readonly analysis: SampleCriticalPathAndFindings }
>();

/**
 * Returns the critical path and the findings of a problem. The result is cached until the problem changes.
 */
export function analyzeCriticalPathAndFindings(
  sample: PageSample,
  model: RunModel,
): SampleCriticalPathAndFindings {
  const { id, cards, score } = sample;
  const isSettled = model.run === undefined || score !== undefined;
  const key = `${sample.version} ${isSettled}`;
  const cached = analysisCache.get(sample);
  if (cached?.key === key) return cached.analysis;
  const path = computeCriticalPath(cards);
  const analysis = {
    summary: summarizeSample(sample),
    criticalPath: path,
    criticalCards: new Set(path.map(({ card }) => card)),
    findings: detectRunFindings({
      id: id === "" ? undefined : id,
      cards: cards.map(({ card }) => card),
      timings: cards,
      isSettled,
    }),
  };
  analysisCache.set(sample, { key, analysis });
  return analysis;
}

/** Returns the bottlenecks of all problems, longest first. */
export function computeRunBottlenecks(model: RunModel): CriticalPathBottleneck[] {
  return computeBottlenecks(
    model.samples.map((sample) => analyzeCriticalPathAndFindings(sample, model).criticalPath),
  );
}

/** Returns the findings of all problems, grouped by kind. */
export function groupRunFindingsByKind(
  model: RunModel,
): ReadonlyMap<RunFinding["kind"], readonly RunFinding[]> {
  return Map.groupBy(
    model.samples.flatMap((sample) => analyzeCriticalPathAndFindings(sample, model).findings),
    ({ kind }) => kind,
  );
}

/** Returns the message cards on a problem's critical path. */
export function collectCriticalCards(sample: PageSample, model: RunModel): ReadonlySet<PageCard> {
  const { criticalCards } = analyzeCriticalPathAndFindings(sample, model);
  return new Set(sample.cards.filter(({ card }) => criticalCards.has(card)));
}
