/**
 * THE FIGURES: what the cards of a run say, and whether two runs differ. Pure functions; the same cards give the same
 * figures, resampling too. The seed's own formulas are in `seed.ts`, with what is wrong with them.
 */
export { pairedBootstrap } from "./bootstrap.ts";
export type { BootstrapOptions } from "./bootstrap.ts";
export { compareRuns, requireComparable } from "./compare.ts";
export type { Comparison, Evidence, ScoredRun, ScoredSample } from "./compare.ts";
export { comparisonOf, scoredRunOf } from "./comparison.ts";
export type {
  Against,
  ComparisonOptions,
  ComparisonReport,
  ComparisonRow,
  EqualBudget,
} from "./comparison.ts";
export { bottlenecksOf, criticalPathOf } from "./critical-path.ts";
export type { Bottleneck, Stretch } from "./critical-path.ts";
export { figuresOf } from "./figures.ts";
export type { Figures } from "./figures.ts";
export { FINDINGS, findingsOf } from "./findings.ts";
export type { Finding, FindingKind, KindOfFinding, Looked } from "./findings.ts";
export { ledgerOf } from "./ledger.ts";
export type { Ledger, Mismatch } from "./ledger.ts";
export { mcnemar } from "./mcnemar.ts";
export type { McNemar } from "./mcnemar.ts";
export { spreadOf } from "./quantile.ts";
export type { Spread } from "./quantile.ts";
export { seeded } from "./random.ts";
export type { Random } from "./random.ts";
export { reportOf } from "./report.ts";
export type { Report, ReportOptions, TimeReport, TokenReport } from "./report.ts";
export { roleTimesOf } from "./role-times.ts";
export type { RoleTime } from "./role-times.ts";
export { seedEfficiency, seedFigures } from "./seed.ts";
export type { SeedFigures } from "./seed.ts";
export { latencyOf, spendingOf } from "./spending.ts";
export type { Latency, Spending } from "./spending.ts";
export { priceOf } from "./usage.ts";
export type { Tariff, Tokens } from "./usage.ts";
export { wilson } from "./wilson.ts";
export type { Confidence, Estimate } from "./wilson.ts";
