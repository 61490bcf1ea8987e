/**
 * Statistics of runs and comparisons of runs.
 * All statistics functions are pure. The same message cards always produce the same statistics.
 * `computeSpecificationFormulaStatistics` contains the original formulas of the specification and documents their
 * defects.
 */
export * from "./card-statistics.ts";
export * from "./comparison-report.ts";
export * from "./intervals.ts";
export * from "./run-report.ts";
