import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { CONTROLLER } from "../message-card/index.ts";
import type { Recording, RecordedSample } from "../recording/index.ts";
import { computePairedBootstrap } from "./paired-bootstrap.ts";
import { compareRuns, assertComparableRuns, excludeSkippedSamples, type ScoredRun } from "./compare-runs.ts";
import {
  computeCoordinationMetrics,
  type CoordinatedRun,
  type CoordinationMetrics,
} from "./coordination-metrics.ts";
import { computeMean, computeMeasureMeans } from "./distribution.ts";
import type { McNemarResult } from "./mcnemar.ts";
import { getScoreOutcome, isAnsweredOutcome } from "./score-outcome.ts";
import { countBy } from "./specification-formula-statistics.ts";
import { computeAccuracy } from "./run-figures.ts";
import { summarizeTokens, computeTokenPrice, type TokenTariff, type TokenCounts } from "./token-counts.ts";
import type { IntervalEstimate } from "./wilson-interval.ts";

/** Comparison of several runs on the same problems. */
export interface ComparisonReport {
  readonly dataset: string;
  readonly evidence: string;
  readonly rule: string;
  /** Number of problems that every run scored. */
  readonly samples: number;
  /** Number of problems that the comparison excludes, because a run skipped them after an error. */
  readonly skipped: number;
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
  /** Number of problems by outcome, such as `answered`, `no_answer`, `timeout`, or `truncated`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Number of problems with an answer, which may be wrong. */
  readonly completed: number;
  /**
   * Mean token counts per problem, or `undefined` if no message card reports tokens. If `unknownCards` is
   * greater than 0, the token counts and all figures that depend on them are lower bounds.
   */
  readonly tokens: TokenCounts | undefined;
  /** Mean number of input and output tokens per problem. */
  readonly totalTokens: number | undefined;
  /** Number of message cards with unknown tokens. */
  readonly unknownCards: number;
  /** Whether some token counts are estimates. */
  readonly estimated: boolean;
  /** Mean number of planner turns, over the problems with recorded turns. */
  readonly turns: number | undefined;
  /** Mean price per problem according to the tariff. */
  readonly price: number | undefined;
  /** All tokens of the run divided by the number of problems with an answer. */
  readonly tokensPerCompleted: number | undefined;
  /** All tokens of the run divided by the number of correct answers. */
  readonly tokensPerCorrect: number | undefined;
  /** Coordination of the roles, relative to the run of the first row. */
  readonly coordination: CoordinationMetrics;
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
export interface ComparisonReportOptions {
  /** Prices of tokens. The report contains no price if `tariff` is absent. */
  readonly tariff?: TokenTariff;
}

const assertKnownOptions = defineOptionNames<ComparisonReportOptions>()("buildComparisonReport", "tariff");

interface ComparedRun {
  readonly recording: Recording;
  readonly scoredRun: ScoredRun;
  readonly samples: readonly RecordedSample[];
  readonly row: Omit<ComparedRunStatistics, "against" | "coordination">;
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
  const allRuns = recordings.map((recording, index) => convertRecordingToScoredRun(recording, names[index]));
  const scoredRuns = excludeSkippedSamples(allRuns);
  const entries = recordings.flatMap((recording, index) => {
    const scoredRun = scoredRuns[index];
    return scoredRun ? toComparedRun(recording, scoredRun, options.tariff) : [];
  });
  assertComparableRuns(entries.map(({ scoredRun }) => scoredRun));
  const [first] = entries;
  if (!first) throw new A2AError("INVALID_PARAMS", "Nothing to compare. To do: name at least two runs.");
  return {
    dataset: first.scoredRun.dataset,
    evidence: first.scoredRun.evidence,
    rule: first.scoredRun.rule,
    samples: first.scoredRun.samples.size,
    skipped: new Set(allRuns.flatMap(({ skipped = [] }) => [...skipped])).size,
    rows: entries.map((entry) => ({
      ...entry.row,
      coordination: computeCoordinationMetrics(toCoordinatedRun(entry), toCoordinatedRun(first)),
      against: entry === first ? undefined : compareWithBaseline(first, entry),
    })),
    budgets: entries.flatMap((entry) => findEqualTokenBudgetComparison(entry, entries) ?? []),
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
      recording.samples.flatMap((sample) => {
        const { id, score } = sample;
        if (id === undefined || !score) return [];
        const { total, unknownCards, isReported } = summarizeTokens(sample.cards);
        const tokens = isReported && unknownCards === 0 ? total : undefined;
        const question = sample.cards.find(({ sender }) => sender === CONTROLLER)?.content;
        const isCompleted = isAnsweredOutcome(getScoreOutcome(score));
        return [[id, { correct: score.correct, gold: score.gold, question, isCompleted, tokens }] as const];
      }),
    ),
    skipped: new Set(recording.skips.map(({ sample_id }) => sample_id)),
  };
}

function toComparedRun(
  recording: Recording,
  scoredRun: ScoredRun,
  tariff: TokenTariff | undefined,
): ComparedRun {
  const samples = recording.samples.filter(({ id }) => id !== undefined && scoredRun.samples.has(id));
  const scores = samples.flatMap(({ score }) => score ?? []);
  const { sum, total, estimated, unknownCards, isReported } = summarizeTokens(
    samples.flatMap(({ cards }) => cards),
  );
  const isKnown = isReported && samples.length > 0;
  const tokens = isKnown ? divideTokenCounts(sum, samples.length) : undefined;
  const totalTokens = isKnown ? total / samples.length : undefined;
  // Comparability is checked later, so an empty run must not throw here.
  const accuracy = computeAccuracy(scores) ?? { value: 0, low: 0, high: 1 };
  const outcomes = countBy(scores, getScoreOutcome);
  const completed = scores.filter((score) => isAnsweredOutcome(getScoreOutcome(score))).length;
  const correct = scores.filter((score) => score.correct).length;
  const turns = scores.flatMap((score) => score.turns ?? []);
  return {
    recording,
    scoredRun,
    samples,
    row: {
      name: scoredRun.name,
      run_id: recording.run?.run_id ?? "",
      accuracy,
      measures: computeMeasureMeans(scores),
      outcomes,
      completed,
      tokens,
      totalTokens,
      unknownCards,
      estimated: estimated > 0,
      turns: turns.length > 0 ? computeMean(turns) : undefined,
      price: tokens && tariff && computeTokenPrice(tokens, tariff),
      tokensPerCompleted: isKnown && completed > 0 ? total / completed : undefined,
      tokensPerCorrect: isKnown && correct > 0 ? total / correct : undefined,
    },
  };
}

function toCoordinatedRun(run: ComparedRun): CoordinatedRun {
  return {
    samples: run.samples,
    accuracy: run.row.accuracy.value,
    tokens: getRunTokensPerSample(run),
  };
}

function compareWithBaseline(baseline: ComparedRun, run: ComparedRun): BaselineComparison {
  const { difference, onlySecond, onlyFirst, p, tokenRatio } = compareRuns(baseline.scoredRun, run.scoredRun);
  const baselineSamples = new Map(baseline.samples.map((sample) => [sample.id, sample]));
  const names = listMeasureNames(run.samples).filter((name) =>
    listMeasureNames(baseline.samples).includes(name),
  );
  return {
    difference,
    onlyThis: onlySecond,
    onlyOther: onlyFirst,
    p,
    tokenRatio,
    measures: Object.fromEntries(
      names.map((name) => {
        const pairs = run.samples.map(
          (sample) =>
            [
              baselineSamples.get(sample.id)?.score?.measures?.[name] ?? 0,
              sample.score?.measures?.[name] ?? 0,
            ] as const,
        );
        return [name, computePairedBootstrap(pairs, (a, b, count) => (b - a) / count)];
      }),
    ),
  };
}

/** Maximum ratio of two token budgets that are treated as equal. */
const MAX_EQUAL_TOKEN_BUDGET_RATIO = 1.25;

function findEqualTokenBudgetComparison(
  entry: ComparedRun,
  entries: readonly ComparedRun[],
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
    against: isEqual ? compareWithBaseline(nearest.other, entry) : undefined,
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

/** Returns the mean number of tokens per problem, or `undefined` if it is 0 or only a lower bound. */
function getRunTokensPerSample({ row }: ComparedRun): number | undefined {
  return row.totalTokens === 0 || row.unknownCards > 0 ? undefined : row.totalTokens;
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

function divideTokenCounts({ input, output, cached, reasoning }: TokenCounts, by: number): TokenCounts {
  return { input: input / by, output: output / by, cached: cached / by, reasoning: reasoning / by };
}
