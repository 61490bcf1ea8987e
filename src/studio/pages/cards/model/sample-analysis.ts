import { analyzeSample, type AnalyzedSample } from "../../../../cards/index.ts";
import type { PageSample, RunModel } from "./run-model.ts";
import { type SampleSummary, summarizeSample } from "./sample-summary.ts";

/** Analysis and summary of one problem. */
export interface SampleAnalysis extends AnalyzedSample {
  readonly summary: SampleSummary;
}

const analysisCache = new WeakMap<PageSample, { readonly key: string; readonly analysis: SampleAnalysis }>();

/** Returns the analysis of a problem. The result is cached until the problem changes. */
export function getSampleAnalysis(sample: PageSample, model: RunModel): SampleAnalysis {
  const key = `${sample.version} ${model.run === undefined}`;
  const cached = analysisCache.get(sample);
  if (cached?.key === key) return cached.analysis;
  const analysis = { ...analyzeSample(sample, model.run), summary: summarizeSample(sample) };
  analysisCache.set(sample, { key, analysis });
  return analysis;
}
