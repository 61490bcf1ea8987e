/**
 * Statistics of runs and comparisons of runs.
 * All statistics functions are pure. The same message cards always produce the same statistics, because
 * resampling uses a fixed seed. `specification-formula-statistics.ts` contains the original formulas of the
 * specification and documents their defects.
 */
export * from "./card-call-token-comparison.ts";
export * from "./card-statistics.ts";
export * from "./compare-runs.ts";
export * from "./comparison-report.ts";
export * from "./distribution.ts";
export * from "./mcnemar.ts";
export * from "./newcombe-interval.ts";
export * from "./paired-bootstrap.ts";
export * from "./role-spending.ts";
export * from "./run-figures.ts";
export * from "./run-findings.ts";
export * from "./run-report.ts";
export * from "./score-outcome.ts";
export * from "./seeded-random.ts";
export * from "./specification-formula-statistics.ts";
export * from "./token-counts.ts";
export * from "./wilson-interval.ts";
