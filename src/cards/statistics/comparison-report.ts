import { A2AError } from "../../protocol/index.ts";
import { type Recording, type RunSample, collectRunSamples } from "../recording/index.ts";
import { type BootstrapOptions, computePairedBootstrap } from "./paired-bootstrap.ts";
import { compareRuns, assertComparableRuns, type ScoredRun } from "./compare-runs.ts";
import { computeMean, computeMeasureMeans } from "./distribution.ts";
import type { McNemarResult } from "./mcnemar.ts";
import { computeAccuracyPerThousandTokens } from "./specification-statistics.ts";
import {
  computeTokenPrice,
  sumUsageTokens,
  type TokenTariff,
  findCardTokenTotal,
  type TokenCounts,
} from "./token-counts.ts";
import { computeWilsonInterval, type IntervalEstimate } from "./wilson-interval.ts";

/** Several runs of the same problems beside each other. */
export interface ComparisonReport {
  readonly dataset: string;
  readonly evidence: string;
  readonly rule: string;
  readonly samples: number;
  readonly rows: readonly ComparisonRow[];
  readonly budgets: readonly EqualBudgetComparison[];
}

export interface ComparisonRow {
  /** Its method, and what tells it from others of the same. */
  readonly name: string;
  readonly run_id: string;
  readonly accuracy: IntervalEstimate;
  /** Means of the dataset's other measures. */
  readonly measures: Readonly<Record<string, number>>;
  /** Means of a problem; `undefined` unless known of every one. */
  readonly tokens: TokenCounts | undefined;
  /** Some of them are estimates. */
  readonly estimated: boolean;
  /** Mean of the planner's turns, of problems that have any. */
  readonly turns: number | undefined;
  /** Mean of a problem, by the tariff. */
  readonly price: number | undefined;
  /** The seed's measure: accuracy for every 1,000 tokens. It rewards short wrong answers. */
  readonly perThousand: number | undefined;
  /** Beside the first row; `undefined` of that. */
  readonly against: BaselineComparison | undefined;
}

export interface BaselineComparison {
  /** Accuracy of this one minus the other's. */
  readonly difference: IntervalEstimate;
  readonly onlyThis: number;
  readonly onlyOther: number;
  readonly p: McNemarResult;
  /** Tokens of this one by the other's. */
  readonly tokenRatio: IntervalEstimate | undefined;
  readonly measures: Readonly<Record<string, IntervalEstimate>>;
}

/**
 * What a run achieved beside the plain method that had as many tokens: chains of thought, sampled so often and voted upon.
 * More tokens buy accuracy by themselves, so that a comparison with a single chain says little.
 */
export interface EqualBudgetComparison {
  readonly name: string;
  /** Of a problem. */
  readonly tokens: number;
  /** The run that comes nearest; within a quarter, the budgets are called equal. */
  readonly other: string | undefined;
  readonly otherTokens: number | undefined;
  /** `undefined` unless the budgets are equal. */
  readonly against: BaselineComparison | undefined;
  /** The run that is missing, `cot-sc@7`. */
  readonly missing: string | undefined;
}

export interface ComparisonReportOptions extends BootstrapOptions {
  readonly tariff?: TokenTariff;
}

/** A run with what a comparison needs of it. */
interface ComparedRun {
  readonly recording: Recording;
  readonly scoredRun: ScoredRun;
  readonly samples: readonly RunSample[];
  readonly row: Omit<ComparisonRow, "against">;
}

/**
 * Runs of the same problems, each beside the first. Refuses, as `compareRuns` does, runs of different evidence, datasets,
 * rules or problems, and recordings without the line of the run.
 */
export function buildComparisonReport(
  recordings: readonly Recording[],
  options: ComparisonReportOptions = {},
): ComparisonReport {
  const names = createUniqueRunNames(recordings);
  const entries = recordings.map((recording, at) =>
    toComparedRun(recording, names[at] ?? "", options.tariff),
  );
  assertComparableRuns(entries.map(({ scoredRun: scored }) => scored));
  const [first] = entries;
  if (!first) throw new A2AError("INVALID_PARAMS", "Nothing to compare. To do: name two runs or more.");
  return {
    dataset: first.scoredRun.dataset,
    evidence: first.scoredRun.evidence,
    rule: first.scoredRun.rule,
    samples: first.scoredRun.samples.size,
    rows: entries.map((entry) => ({
      ...entry.row,
      against: entry === first ? undefined : compareWithBaseline(first, entry, options),
    })),
    budgets: entries.flatMap((entry) => findEqualBudgetComparison(entry, entries, options) ?? []),
  };
}

/** A run as `compareRuns` wants it: the problems that are done. */
export function toScoredRun(recording: Recording, name?: string): ScoredRun {
  const { run } = recording;
  if (!run)
    throw new A2AError(
      "INVALID_PARAMS",
      "There is no record of the run with these cards. To do: name the file that the run was recorded in.",
    );
  return {
    name: name ?? run.method,
    dataset: run.dataset,
    evidence: run.evidence,
    rule: run.rule,
    samples: new Map(
      collectRunSamples(recording).flatMap((sample) => {
        const { id, score } = sample;
        if (id === undefined || !score) return [];
        const spent = sumSampleTokens(sample);
        return [[id, { correct: score.correct, tokens: spent && spent.input + spent.output }] as const];
      }),
    ),
  };
}

/** The tokens of a problem; `undefined` where a call or a card does not tell. */
function sumSampleTokens({ calls, cards }: RunSample): TokenCounts | undefined {
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
  const scored = toScoredRun(recording, name);
  const samples = collectRunSamples(recording).filter(({ id }) => id !== undefined && scored.samples.has(id));
  const spent = samples.map(sumSampleTokens);
  const known = spent.flatMap((tokens) => tokens ?? []);
  const all = known.length === samples.length && samples.length > 0 ? known : undefined;
  const tokens = all && computeMeanTokens(all);
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
      // What there is to compare is looked at afterwards, and nothing is refused there.
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
  other: ComparedRun,
  one: ComparedRun,
  options: BootstrapOptions,
): BaselineComparison {
  const compared = compareRuns(other.scoredRun, one.scoredRun, options);
  const theirs = new Map(other.samples.map((sample) => [sample.id, sample]));
  const names = listMeasureNames(one.samples).filter((name) =>
    listMeasureNames(other.samples).includes(name),
  );
  return {
    difference: compared.difference,
    onlyThis: compared.onlySecond,
    onlyOther: compared.onlyFirst,
    p: compared.p,
    tokenRatio: compared.tokenRatio,
    measures: Object.fromEntries(
      names.map((name) => {
        const pairs = one.samples.map(
          (sample) =>
            [
              theirs.get(sample.id)?.score?.measures?.[name] ?? 0,
              sample.score?.measures?.[name] ?? 0,
            ] as const,
        );
        return [name, computePairedBootstrap(pairs, (a, b, count) => (b - a) / count, options)];
      }),
    ),
  };
}

/** Within a quarter more or less. */
const EQUAL_BUDGET_RATIO = 1.25;

function findEqualBudgetComparison(
  entry: ComparedRun,
  entries: readonly ComparedRun[],
  options: BootstrapOptions,
): EqualBudgetComparison | undefined {
  const tokens = getTotalTokens(entry);
  const chains = entries.flatMap((other) => {
    const voters = parseVoterCount(other);
    const total = getTotalTokens(other);
    return voters === undefined || total === undefined ? [] : { other, voters, total };
  });
  if (tokens === undefined || parseVoterCount(entry) !== undefined || chains.length === 0) return undefined;
  const off = (total: number): number => Math.abs(Math.log(total / tokens));
  const nearest = chains.reduce((best, chain) => (off(chain.total) < off(best.total) ? chain : best));
  const isEqual = off(nearest.total) <= Math.log(EQUAL_BUDGET_RATIO);
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

/** How many chains of thought vote: 1 of `cot`; `undefined` of other methods. */
function parseVoterCount({ recording }: ComparedRun): number | undefined {
  const found = /^cot(?:-sc@([1-9]\d{0,4}))?$/.exec(recording.run?.method ?? "");
  return found ? Number(found[1] ?? 1) : undefined;
}

function getTotalTokens({ row: { tokens } }: ComparedRun): number | undefined {
  const total = tokens && tokens.input + tokens.output;
  return total === 0 ? undefined : total;
}

/** The method; with the mode, the context, the models or at last the id of the run, where others have the same name. */
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
        words.filter((other) => joinNameParts(other, size) === joinNameParts(parts, size)).length === 1,
    );
    return joinNameParts(parts, size ?? parts.length);
  });
}

function joinNameParts(parts: readonly string[], size: number): string {
  return parts
    .slice(0, size)
    .filter((part) => part !== "")
    .join(" ");
}

function listMeasureNames(samples: readonly RunSample[]): string[] {
  return [...new Set(samples.flatMap(({ score }) => Object.keys(score?.measures ?? {})))];
}

function computeMeanTokens(all: readonly TokenCounts[]): TokenCounts {
  return {
    input: computeMean(all.map(({ input }) => input)),
    output: computeMean(all.map(({ output }) => output)),
    cached: computeMean(all.map(({ cached }) => cached)),
    reasoning: computeMean(all.map(({ reasoning }) => reasoning)),
  };
}
