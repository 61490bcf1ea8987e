import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { type MessageCard, PLANNER } from "../message-card/index.ts";
import type {
  Recording,
  RecordedSample,
  RunEndLine,
  RunLine,
  ScoreLine,
  TornLine,
} from "../recording/index.ts";
import {
  type CardStatistics,
  computeCardStatistics,
  computeSpecificationFormulaStatistics,
  type RoleSpending,
  type SpecificationFormulaStatistics,
  summarizeRoleSpending,
} from "./card-statistics.ts";
import {
  computeMeasureMeans,
  countBy,
  type DistributionSummary,
  summarizeDistribution,
  computeWilsonInterval,
  type IntervalEstimate,
  getScoreOutcome,
} from "./intervals.ts";
import {
  detectRunFindings,
  listProtocolViolations,
  RUN_FINDING_KINDS,
  type RunFinding,
} from "./run-checks.ts";
import {
  computeTokenPrice,
  sumUsageTokens,
  summarizeTokens,
  type TokenCounts,
  type TokenSummary,
  type TokenTariff,
} from "./token-counts.ts";

/** All statistics of a run. Statistics without data are `undefined`. */
export interface RunReport {
  /** Run line of the recording, without the list of problem IDs. */
  readonly run: Omit<RunLine, "sample_ids"> | undefined;
  /** Reasons why some statistics cannot be computed. */
  readonly unknown: readonly string[];
  /** Message cards that violate a guarantee of the card protocol. */
  readonly violations: readonly string[];
  /** Summaries of all violated guarantees, empty for a correct run. */
  readonly broken: readonly string[];
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
  readonly seed: SpecificationFormulaStatistics | undefined;
  readonly tokens: TokenSummary & {
    /** Number of input and output tokens per scored problem, or per problem if the recording has no run line. */
    readonly perSample: DistributionSummary | undefined;
    /** Share of estimated tokens, from 0 to 1, or `undefined` if there are no tokens. */
    readonly estimatedShare: number | undefined;
    /** Price of all tokens according to the tariff, or `undefined` without a tariff. */
    readonly price: number | undefined;
  };
  readonly spending: readonly RoleSpending[];
  readonly time: {
    /** Time in milliseconds from the first task of a problem to the last reply. */
    readonly perSample: DistributionSummary | undefined;
  };
  readonly findings: readonly RunFinding[];
  /** Number of findings by kind, omitting kinds without findings. */
  readonly found: Readonly<Record<string, number>>;
  readonly ends: readonly RunEndLine["status"][];
  /** Whether record lines were lost. */
  readonly degraded: boolean;
  /**
   * Cost of attempts that were interrupted and later repeated. All other statistics exclude interrupted
   * attempts.
   */
  readonly abandoned: { readonly cards: number; readonly calls: number; readonly tokens: TokenCounts };
  readonly torn: readonly TornLine[];
}

/** Options of `buildRunReport`. */
export interface RunReportOptions {
  /** Prices of tokens. The report contains no price if `tariff` is absent. */
  readonly tariff?: TokenTariff;
}

const assertKnownOptions = defineOptionNames<RunReportOptions>()("buildRunReport", "tariff");

/** Builds the report of a recording. `buildRunReport` is a pure function. */
export function buildRunReport(recording: Recording, options: RunReportOptions = {}): RunReport {
  assertKnownOptions(options);
  const { run, samples, cards, ends, torn, abandoned } = recording;
  const named = samples.filter(({ id }) => id !== undefined);
  const scores = named.flatMap(({ score }) => score ?? []);
  const measured = run === undefined ? named : named.filter(({ score }) => score !== undefined);
  const checks = samples.map((sample) => ({ id: sample.id, ...checkSample(sample, run) }));
  const findings = checks.flatMap((check) => check.findings);
  const violations = checks.flatMap(({ id, violations }) =>
    violations.map((what) => `${id ?? "cards without a problem"}: ${what}`),
  );
  const [violation] = violations;
  const isElsewhere = isPlannerRecordedElsewhere(recording);
  const figures =
    cards.length + named.length > 0
      ? computeCardStatistics(
          cards,
          named.flatMap(({ id }) => id ?? []),
        )
      : undefined;
  const tokens = summarizeTokens(cards);
  const degraded = ends.some(({ recorder }) => recorder === "degraded");
  const { sample_ids: _ids, ...about } = run ?? ({} as RunLine);
  return {
    run: run && about,
    unknown: listReasonsForMissingStatistics(recording, named.length, isElsewhere),
    violations,
    broken: [
      violation !== undefined &&
        `the protocol: ${violations.length} ${violations.length === 1 ? "violation" : "violations"}, the first in ${violation}`,
      degraded && "the record: lines were lost while it was written",
      torn.some(({ last }) => !last) && "the record: lines in its middle cannot be read",
    ].filter((what) => typeof what === "string"),
    samples: {
      total: named.length,
      done: scores.length,
      failed: scores.filter(({ error }) => error !== undefined).length,
      outcomes: countBy(scores, getScoreOutcome),
      skipped: named.filter(({ skip }) => skip !== undefined).length,
      open: run ? named.filter((sample) => !isSettled(sample, run) && sample.cards.length > 0).length : 0,
    },
    accuracy: computeAccuracy(scores),
    measures: computeMeasureMeans(scores),
    figures: figures && { ...figures, ...(isElsewhere && { solverTasks: undefined }) },
    seed: named.length > 0 ? computeSpecificationFormulaStatistics(cards, named.length) : undefined,
    tokens: {
      ...tokens,
      perSample: summarizeIfAny(measured.map((sample) => summarizeTokens(sample.cards).total)),
      estimatedShare: tokens.total > 0 ? tokens.estimated / tokens.total : undefined,
      price: options.tariff && computeTokenPrice(tokens.sum, options.tariff),
    },
    spending: summarizeRoleSpending(cards),
    time: {
      perSample: summarizeIfAny(named.flatMap((sample) => computeSampleDuration(sample) ?? [])),
    },
    findings,
    found: Object.fromEntries(
      Object.keys(RUN_FINDING_KINDS).flatMap((kind) => {
        const count = findings.filter((finding) => finding.kind === kind).length;
        return count > 0 ? [[kind, count]] : [];
      }),
    ),
    ends: ends.map(({ status }) => status),
    degraded,
    abandoned: {
      cards: abandoned.cards.length,
      calls: abandoned.calls.length,
      tokens: sumUsageTokens(abandoned.calls.map(({ usage }) => usage)),
    },
    torn,
  };
}

/** Returns the findings and the protocol violations of a problem. */
export function checkSample(
  sample: RecordedSample,
  run: RunLine | undefined,
): { readonly findings: readonly RunFinding[]; readonly violations: readonly string[] } {
  const { id, cards } = sample;
  return {
    findings: detectRunFindings(sample),
    violations: listProtocolViolations({
      cards,
      calls: id === undefined ? [] : sample.calls,
      isSettled: id === undefined || isSettled(sample, run),
    }),
  };
}

/** Returns the share of correct answers with its interval, or `undefined` if no problem is scored. */
function computeAccuracy(scores: readonly Pick<ScoreLine, "correct">[]): IntervalEstimate | undefined {
  const correct = scores.filter((score) => score.correct).length;
  return scores.length > 0 ? computeWilsonInterval(correct, scores.length) : undefined;
}

/** Returns the time from the first message card to the last arrival, or `undefined` without a reply. */
function computeSampleDuration({
  cards,
  timedCards: [first, ...others],
}: RecordedSample): number | undefined {
  const hasReply = cards.some(
    ({ metadata }) =>
      metadata.in_reply_to !== undefined && metadata.in_reply_to === first?.card.metadata.card_id,
  );
  return first && hasReply ? Math.max(...others.map(({ arrivedMs }) => arrivedMs)) - first.sentMs : undefined;
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

/**
 * Returns whether the recording contains replies of the planner, but neither its model calls nor its delegations.
 */
function isPlannerRecordedElsewhere({ run, cards, calls }: Recording): boolean {
  if (!run) return false;
  const sent = cards.filter(
    ({ sender, metadata }) => sender === PLANNER && metadata["written_by"] === undefined,
  );
  const hasDelegated = sent.some(({ message_type }) => message_type === "task");
  return sent.length > 0 && !hasDelegated && !calls.some(({ role }) => role === PLANNER);
}

function listReasonsForMissingStatistics(
  { run, calls, cards }: Recording,
  samples: number,
  isElsewhere: boolean,
): string[] {
  const has = (test: (metadata: MessageCard["metadata"]) => boolean): boolean =>
    cards.some(({ metadata }) => test(metadata));
  return [
    !run &&
      "which problems there were, and which answers are correct: the run has no record (name its .cards.jsonl)",
    !run && samples === 0 && cards.length > 0 && "figures by problem: the cards have no metadata.sample_id",
    has(({ card_id }) => card_id === undefined) &&
      "replies of cards without metadata.card_id: no durations, no missing replies",
    isElsewhere && "delegations of the planner: another process recorded them (name its .cards.jsonl, too)",
    calls.length === 0 &&
      has(({ usage }) => usage !== undefined) &&
      "whether the cards report all tokens: no model calls are recorded",
  ].filter((reason) => typeof reason === "string");
}
