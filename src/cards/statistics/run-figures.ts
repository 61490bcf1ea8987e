import type { RecordedCall, RecordedSample, RunLine, ScoreLine } from "../recording/index.ts";
import { type CardCallTokenComparison, compareCardAndCallTokens } from "./card-call-token-comparison.ts";
import { computeCardStatistics, type CardStatistics } from "./card-statistics.ts";
import { computeMeasureMeans, type DistributionSummary, summarizeDistribution } from "./distribution.ts";
import { type RoleSpending, summarizeRoleSpending } from "./role-spending.ts";
import { detectRunFindings, listProtocolViolations, type RunFinding } from "./run-findings.ts";
import { getScoreOutcome } from "./score-outcome.ts";
import { countBy } from "./specification-formula-statistics.ts";
import { summarizeTokens, type TokenSummary } from "./token-counts.ts";
import { computeWilsonInterval, type IntervalEstimate } from "./wilson-interval.ts";

/** A problem of a run with the results of its analysis. */
export interface AnalyzedSample extends RecordedSample {
  /** Time in milliseconds from the first message card to the last arrival, or `undefined` without a reply. */
  readonly durationMs: number | undefined;
  readonly findings: readonly RunFinding[];
  readonly violations: readonly string[];
}

/** Computes the duration, the findings, and the protocol violations of a problem. */
export function analyzeSample(sample: RecordedSample, run: RunLine | undefined): AnalyzedSample {
  const { id, cards, timedCards, calls, score, skip, version } = sample;
  const [first] = timedCards;
  const hasReply = cards.some(
    ({ metadata }) =>
      metadata.in_reply_to !== undefined && metadata.in_reply_to === first?.card.metadata.card_id,
  );
  return {
    id,
    cards,
    timedCards,
    calls,
    score,
    skip,
    version,
    durationMs:
      first && hasReply
        ? Math.max(...timedCards.map(({ arrivedMs }) => arrivedMs)) - first.sentMs
        : undefined,
    findings: detectRunFindings(sample),
    violations: listProtocolViolations({ cards, isSettled: id === undefined || isSettled(sample, run) }),
  };
}

/**
 * Figures of a run that `cards stats`, the HTML report, and `cards compare` share. Figures without data are
 * `undefined`.
 */
export interface RunFigures {
  readonly samples: {
    readonly total: number;
    /** Number of scored problems. */
    readonly done: number;
    /** Number of problems that ended with an error and count as wrong (`--on-error wrong`). */
    readonly failed: number;
    /** Number of problems that ended with an error and have no score (`--on-error skip`). */
    readonly skipped: number;
    /** Number of scored problems by outcome. */
    readonly outcomes: Readonly<Record<string, number>>;
    /** Number of started problems that are interrupted or still running. */
    readonly open: number;
  };
  /** Accuracy over the scored problems. */
  readonly accuracy: IntervalEstimate | undefined;
  /** Mean of each additional dataset measure, for example `f1`. */
  readonly measures: Readonly<Record<string, number>>;
  readonly figures: CardStatistics | undefined;
  readonly tokens: TokenSummary & {
    /**
     * Number of input and output tokens per scored problem, or per problem if the recording has no run line.
     */
    readonly perSample: DistributionSummary | undefined;
  };
  readonly spending: readonly RoleSpending[];
  readonly ledger: CardCallTokenComparison | undefined;
  /** Time in milliseconds from the first task of a problem to the last reply. */
  readonly timePerSample: DistributionSummary | undefined;
  readonly findings: readonly RunFinding[];
}

/**
 * Computes the figures of a run. The message cards of all problems must contain no duplicates. `calls` are
 * all model calls of the run.
 */
export function computeRunFigures(
  samples: readonly AnalyzedSample[],
  run: RunLine | undefined,
  calls: readonly RecordedCall[],
): RunFigures {
  const named = samples.filter(({ id }) => id !== undefined);
  const ids = named.flatMap(({ id }) => id ?? []);
  const cards = samples.flatMap((sample) => sample.cards);
  const scores = named.flatMap(({ score }) => score ?? []);
  const measured = run === undefined ? named : named.filter(({ score }) => score !== undefined);
  const settled = named.filter((sample) => isSettled(sample, run));
  return {
    samples: {
      total: ids.length,
      done: scores.length,
      failed: scores.filter(({ error }) => error !== undefined).length,
      outcomes: countBy(scores, getScoreOutcome),
      skipped: named.filter(({ skip }) => skip !== undefined).length,
      open: run ? named.filter((sample) => !isSettled(sample, run) && sample.cards.length > 0).length : 0,
    },
    accuracy: computeAccuracy(scores),
    measures: computeMeasureMeans(scores),
    figures: cards.length + ids.length > 0 ? computeCardStatistics(cards, ids) : undefined,
    tokens: {
      ...summarizeTokens(cards),
      perSample: summarizeIfAny(measured.map((sample) => summarizeTokens(sample.cards).total)),
    },
    spending: summarizeRoleSpending(cards),
    ledger: calls.length > 0 ? compareCardAndCallTokens(settled, calls) : undefined,
    timePerSample: summarizeIfAny(named.flatMap(({ durationMs }) => durationMs ?? [])),
    findings: samples.flatMap(({ findings }) => findings),
  };
}

/** Returns the share of correct answers with its interval, or `undefined` if no problem is scored. */
export function computeAccuracy(scores: readonly Pick<ScoreLine, "correct">[]): IntervalEstimate | undefined {
  const correct = scores.filter((score) => score.correct).length;
  return scores.length > 0 ? computeWilsonInterval(correct, scores.length) : undefined;
}

/**
 * Returns whether no more message cards of a problem are expected: the problem is scored or skipped, or the
 * recording has no run line.
 */
function isSettled(
  { score, skip }: Pick<RecordedSample, "score" | "skip">,
  run: RunLine | undefined,
): boolean {
  return run === undefined || score !== undefined || skip !== undefined;
}

function summarizeIfAny(values: readonly number[]): DistributionSummary | undefined {
  return values.length > 0 ? summarizeDistribution(values) : undefined;
}
