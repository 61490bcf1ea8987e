import { analyzeSample, type AnalyzedSample, type MessageCard } from "../../../../cards/index.ts";
import type { PageSample, RunModel, PageCard } from "./run-model.ts";
import { type SampleSummary, summarizeSample } from "./sample-summary.ts";

/** Critical path and findings of one problem. */
export interface SampleCriticalPathAndFindings extends AnalyzedSample {
  readonly summary: SampleSummary;
  /** Message cards on the critical path. */
  readonly criticalCards: ReadonlySet<MessageCard>;
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
  const { id, cards } = sample;
  const key = `${sample.version} ${model.run === undefined}`;
  const cached = analysisCache.get(sample);
  if (cached?.key === key) return cached.analysis;
  const recorded = { ...sample, id: id === "" ? undefined : id, cards: cards.map(({ card }) => card) };
  const analyzed = analyzeSample(recorded, cards, model.run);
  const analysis = {
    ...analyzed,
    summary: summarizeSample(sample),
    criticalCards: new Set(analyzed.criticalPath.map(({ card }) => card)),
  };
  analysisCache.set(sample, { key, analysis });
  return analysis;
}

/** Returns the message cards on a problem's critical path. */
export function collectCriticalCards(sample: PageSample, model: RunModel): ReadonlySet<PageCard> {
  const { criticalCards } = analyzeCriticalPathAndFindings(sample, model);
  return new Set(sample.cards.filter(({ card }) => criticalCards.has(card)));
}
