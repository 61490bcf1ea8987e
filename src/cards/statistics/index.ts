/**
 * Statistics of runs and comparisons of runs.
 * All statistics functions are pure. The same message cards always produce the same statistics, because
 * resampling uses a fixed seed. `specification-formula-statistics.ts` contains the original formulas of the
 * specification and documents their defects.
 */
export { computePairedBootstrap } from "./paired-bootstrap.ts";

export { compareRuns, assertComparableRuns } from "./compare-runs.ts";
export type { RunComparison, ScoredRun } from "./compare-runs.ts";
export { buildComparisonReport, convertRecordingToScoredRun } from "./comparison-report.ts";
export type { BaselineComparison, ComparisonReportOptions, ComparisonReport } from "./comparison-report.ts";
export { computeCardStatistics } from "./card-statistics.ts";
export type { CardStatistics } from "./card-statistics.ts";
export { RUN_FINDING_KINDS, detectRunFindings, listProtocolViolations } from "./run-findings.ts";
export type { RunFinding, RunFindingKind } from "./run-findings.ts";
export { compareCardAndCallTokens } from "./card-call-token-comparison.ts";
export type { CardCallTokenComparison } from "./card-call-token-comparison.ts";
export { computeMcNemarTest } from "./mcnemar.ts";
export { computeNewcombeInterval } from "./newcombe-interval.ts";

export { computeMean, computeMeasureMeans, summarizeDistribution, sumBy } from "./distribution.ts";

export { createSeededRandom } from "./seeded-random.ts";

export { analyzeSample, type AnalyzedSample, computeRunFigures, type RunFigures } from "./run-figures.ts";
export { summarizeTokens, type TokenSummary } from "./token-summary.ts";
export { buildRunReport } from "./run-report.ts";
export type { RunReport, RunReportOptions } from "./run-report.ts";

export { computeSpecificationFormulaStatistics, countBy } from "./specification-formula-statistics.ts";

export { summarizeReplyLatency, summarizeRoleSpending } from "./role-spending.ts";
export type { RoleSpending } from "./role-spending.ts";
export {
  addTokenCounts,
  computeTokenPrice,
  convertUsageToTokenCounts,
  findCardTokenTotal,
  sumUsageTokens,
} from "./token-counts.ts";
export type { TokenCounts, TokenTariff } from "./token-counts.ts";
export { computeWilsonInterval } from "./wilson-interval.ts";
export type { ConfidenceLevel, IntervalEstimate } from "./wilson-interval.ts";
export { getScoreOutcome } from "./score-outcome.ts";
