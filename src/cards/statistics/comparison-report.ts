import { defineOptionNames } from "../../diagnostics/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { type Recording, type RecordedSample, collectRecordedSamples } from "../recording/index.ts";
import { type BootstrapOptions, computePairedBootstrap } from "./paired-bootstrap.ts";
import { compareRuns, assertComparableRuns, type ScoredRun } from "./compare-runs.ts";
import { computeMean, computeMeasureMeans } from "./distribution.ts";
import type { McNemarResult } from "./mcnemar.ts";
import { computeAccuracyPerThousandTokens } from "./specification-formula-statistics.ts";
import {
  computeTokenPrice,
  sumUsageTokens,
  type TokenTariff,
  findCardTokenTotal,
  type TokenCounts,
} from "./token-counts.ts";
import { computeWilsonInterval, type IntervalEstimate } from "./wilson-interval.ts";

/** Comparison of several runs on the same problems. */
export interface ComparisonReport {
  readonly dataset: string;
  readonly evidence: string;
  readonly rule: string;
  readonly samples: number;
  readonly rows: readonly ComparedRunStatistics[];
  readonly budgets: readonly EqualTokenBudgetComparison[];
}

/** Statistics of one run in a comparison. */
interface ComparedRunStatistics {
  /**
   * Unique name of the run. If several runs have the same method, the name also contains the mode, context,
   * models, or run ID.
   */
  readonly name: string;
  readonly run_id: string;
  readonly accuracy: IntervalEstimate;
  /** Mean of each additional dataset measure. */
  readonly measures: Readonly<Record<string, number>>;
  /** Mean token counts per problem, or `undefined` if the token counts of a problem are unknown. */
  readonly tokens: TokenCounts | undefined;
  /** Whether some token counts are estimates. */
  readonly estimated: boolean;
  /** Mean number of planner turns, over the problems with recorded turns. */
  readonly turns: number | undefined;
  /** Mean price per problem according to the tariff. */
  readonly price: number | undefined;
  /** Accuracy per 1,000 tokens. The measure comes from the specification and favors short wrong answers. */
  readonly perThousand: number | undefined;
  /** Comparison with the run of the first row, or `undefined` for the first row. */
  readonly against: BaselineComparison | undefined;
}

/** Comparison of a run with a baseline run. */
export interface BaselineComparison {
  /** Accuracy of the run minus accuracy of the baseline. */
  readonly difference: IntervalEstimate;
  /** Number of problems that the run solved and the baseline did not. */
  readonly onlyThis: number;
  /** Number of problems that the baseline solved and the run did not. */
  readonly onlyOther: number;
  readonly p: McNemarResult;
  /** Token count of the run divided by the token count of the baseline. */
  readonly tokenRatio: IntervalEstimate | undefined;
  /** Difference in each additional dataset measure that both runs have. */
  readonly measures: Readonly<Record<string, IntervalEstimate>>;
}

/**
 * Comparison of a run with a majority vote over chains of thought. Both runs have about the same token
 * budget. A larger token budget alone can increase accuracy, so a comparison with a single chain of thought
 * is not sufficient.
 */
interface EqualTokenBudgetComparison {
  readonly name: string;
  /** Mean number of tokens per problem. */
  readonly tokens: number;
  /**
   * Name of the chain-of-thought run with the most similar token budget. Token budgets that differ by at most
   * 25 % are treated as equal.
   */
  readonly other: string | undefined;
  readonly otherTokens: number | undefined;
  /** Comparison with the chain-of-thought run, or `undefined` if the token budgets are not equal. */
  readonly against: BaselineComparison | undefined;
  /** Chain-of-thought method whose run would have an equal token budget, for example `cot-sc@7`. */
  readonly missing: string | undefined;
}

/** Options of `buildComparisonReport`. */
export interface ComparisonReportOptions extends BootstrapOptions {
  readonly tariff?: TokenTariff;
}

const assertKnownOptions = defineOptionNames<ComparisonReportOptions>()(
  "buildComparisonReport",
  "confidence resamples seed tariff",
);

interface ComparedRun {
  readonly recording: Recording;
  readonly scoredRun: ScoredRun;
  readonly samples: readonly RecordedSample[];
  readonly row: Omit<ComparedRunStatistics, "against">;
}

/**
 * Compares each run with the first run. All runs must have the same problems. Throws INVALID_PARAMS if the
 * runs are not comparable (see `compareRuns`) or if a recording has no run line.
 */
export function buildComparisonReport(
  recordings: readonly Recording[],
  options: ComparisonReportOptions = {},
): ComparisonReport {
  assertKnownOptions(options);
  const names = createUniqueRunNames(recordings);
  const entries = recordings.map((recording, index) =>
    toComparedRun(recording, names[index] ?? "", options.tariff),
  );
  assertComparableRuns(entries.map(({ scoredRun }) => scoredRun));
  const [first] = entries;
  if (!first) throw new A2AError("INVALID_PARAMS", "Nothing to compare. To do: name at least two runs.");
  return {
    dataset: first.scoredRun.dataset,
    evidence: first.scoredRun.evidence,
    rule: first.scoredRun.rule,
    samples: first.scoredRun.samples.size,
    rows: entries.map((entry) => ({
      ...entry.row,
      against: entry === first ? undefined : compareWithBaseline(first, entry, options),
    })),
    budgets: entries.flatMap((entry) => findEqualTokenBudgetComparison(entry, entries, options) ?? []),
  };
}

/** Converts the finished problems of a recording into a scored run for `compareRuns`. */
export function convertRecordingToScoredRun(recording: Recording, name?: string): ScoredRun {
  const { run } = recording;
  if (!run)
    throw new A2AError(
      "INVALID_PARAMS",
      "These cards have no record of the run. To do: name the file in which the run was recorded.",
    );
  return {
    name: name ?? run.method,
    dataset: run.dataset,
    evidence: run.evidence,
    rule: run.rule,
    samples: new Map(
      collectRecordedSamples(recording).flatMap((sample) => {
        const { id, score } = sample;
        if (id === undefined || !score) return [];
        const spent = sumSampleTokens(sample);
        return [[id, { correct: score.correct, tokens: spent && spent.input + spent.output }] as const];
      }),
    ),
  };
}

/**
 * Returns the token counts of a problem, or `undefined` if a model call or message card does not report its
 * token counts.
 */
function sumSampleTokens({ calls, cards }: RecordedSample): TokenCounts | undefined {
  const usages =
    calls.length > 0
      ? calls.map(({ usage }) => usage)
      : cards.flatMap(({ metadata }) => metadata.usage ?? []);
  if (usages.length === 0 || usages.some(({ source }) => source === "none")) return undefined;
  if (
    calls.length === 0 &&
    cards.some((card) => card.metadata.usage === undefined && findCardTokenTotal(card) !== undefined)
  )
    return undefined;
  return sumUsageTokens(usages);
}

function toComparedRun(recording: Recording, name: string, tariff: TokenTariff | undefined): ComparedRun {
  const scored = convertRecordingToScoredRun(recording, name);
  const samples = collectRecordedSamples(recording).filter(
    ({ id }) => id !== undefined && scored.samples.has(id),
  );
  const spent = samples.map(sumSampleTokens);
  const known = spent.flatMap((tokens) => tokens ?? []);
  const all = known.length === samples.length && samples.length > 0 ? known : undefined;
  const tokens = all && computeMeanTokenCounts(all);
  const correct = [...scored.samples.values()].filter((sample) => sample.correct).length;
  const turns = recording.scores.flatMap((score) => score.turns ?? []);
  const total = tokens && tokens.input + tokens.output;
  return {
    recording,
    scoredRun: scored,
    samples,
    row: {
      name,
      run_id: recording.run?.run_id ?? "",
      // Comparability is checked later, so an empty run must not throw here.
      accuracy: computeWilsonInterval(correct, Math.max(1, scored.samples.size)),
      measures: computeMeasureMeans(samples.flatMap(({ score }) => score ?? [])),
      tokens,
      estimated: samples.some(({ calls, cards }) =>
        [...calls, ...cards.map(({ metadata }) => metadata)].some(
          ({ usage }) => usage?.source === "estimated",
        ),
      ),
      turns: turns.length > 0 ? computeMean(turns) : undefined,
      price: tokens && tariff && computeTokenPrice(tokens, tariff),
      perThousand:
        total === undefined || total === 0
          ? undefined
          : computeAccuracyPerThousandTokens(correct / Math.max(1, scored.samples.size), total),
    },
  };
}

function compareWithBaseline(
  baseline: ComparedRun,
  run: ComparedRun,
  options: BootstrapOptions,
): BaselineComparison {
  const compared = compareRuns(baseline.scoredRun, run.scoredRun, options);
  const baselineSamples = new Map(baseline.samples.map((sample) => [sample.id, sample]));
  const names = listMeasureNames(run.samples).filter((name) =>
    listMeasureNames(baseline.samples).includes(name),
  );
  return {
    difference: compared.difference,
    onlyThis: compared.onlySecond,
    onlyOther: compared.onlyFirst,
    p: compared.p,
    tokenRatio: compared.tokenRatio,
    measures: Object.fromEntries(
      names.map((name) => {
        const pairs = run.samples.map(
          (sample) =>
            [
              baselineSamples.get(sample.id)?.score?.measures?.[name] ?? 0,
              sample.score?.measures?.[name] ?? 0,
            ] as const,
        );
        return [name, computePairedBootstrap(pairs, (a, b, count) => (b - a) / count, options)];
      }),
    ),
  };
}

/** Maximum ratio of two token budgets that are treated as equal. */
const MAX_EQUAL_TOKEN_BUDGET_RATIO = 1.25;

function findEqualTokenBudgetComparison(
  entry: ComparedRun,
  entries: readonly ComparedRun[],
  options: BootstrapOptions,
): EqualTokenBudgetComparison | undefined {
  const tokens = getRunTokensPerSample(entry);
  const chains = entries.flatMap((other) => {
    const voters = parseVoterCountFromMethod(other);
    const total = getRunTokensPerSample(other);
    return voters === undefined || total === undefined ? [] : { other, voters, total };
  });
  if (tokens === undefined || parseVoterCountFromMethod(entry) !== undefined || chains.length === 0)
    return undefined;
  const getDistance = (total: number): number => Math.abs(Math.log(total / tokens));
  const nearest = chains.reduce((best, chain) =>
    getDistance(chain.total) < getDistance(best.total) ? chain : best,
  );
  const isEqual = getDistance(nearest.total) <= Math.log(MAX_EQUAL_TOKEN_BUDGET_RATIO);
  const fitting = Math.round(tokens / (nearest.total / nearest.voters));
  return {
    name: entry.row.name,
    tokens,
    other: nearest.other.row.name,
    otherTokens: nearest.total,
    against: isEqual ? compareWithBaseline(nearest.other, entry, options) : undefined,
    missing: isEqual || fitting <= 1 ? undefined : `cot-sc@${fitting}`,
  };
}

/**
 * Returns the number of chains of thought in a `cot` or `cot-sc@k` method, or `undefined` for other methods.
 */
function parseVoterCountFromMethod({ recording }: ComparedRun): number | undefined {
  const found = /^cot(?:-sc@([1-9]\d{0,4}))?$/.exec(recording.run?.method ?? "");
  return found ? Number(found[1] ?? 1) : undefined;
}

function getRunTokensPerSample({ row: { tokens } }: ComparedRun): number | undefined {
  const total = tokens && tokens.input + tokens.output;
  return total === 0 ? undefined : total;
}

/**
 * Returns a unique name for each run. The name contains the method and, if necessary, the mode, context,
 * models, and run ID.
 */
function createUniqueRunNames(recordings: readonly Recording[]): string[] {
  const words = recordings.map(({ run }) => [
    run?.method ?? "cards",
    run?.mode ?? "",
    run?.context ?? "",
    [...new Set(Object.values(run?.model ?? {}))].join("+"),
    run?.run_id ?? "",
  ]);
  return words.map((parts) => {
    const size = [1, 2, 3, 4, 5].find(
      (size) =>
        words.filter((other) => joinRunNameParts(other, size) === joinRunNameParts(parts, size)).length === 1,
    );
    return joinRunNameParts(parts, size ?? parts.length);
  });
}

function joinRunNameParts(parts: readonly string[], size: number): string {
  return parts
    .slice(0, size)
    .filter((part) => part !== "")
    .join(" ");
}

function listMeasureNames(samples: readonly RecordedSample[]): string[] {
  return [...new Set(samples.flatMap(({ score }) => Object.keys(score?.measures ?? {})))];
}

function computeMeanTokenCounts(all: readonly TokenCounts[]): TokenCounts {
  return {
    input: computeMean(all.map(({ input }) => input)),
    output: computeMean(all.map(({ output }) => output)),
    cached: computeMean(all.map(({ cached }) => cached)),
    reasoning: computeMean(all.map(({ reasoning }) => reasoning)),
  };
}
