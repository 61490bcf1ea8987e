import { type MessageCard, PLANNER, parseCardTime } from "../message-card/index.ts";
import {
  listRecordedCards,
  type ClockAdjustment,
  type EndLine,
  computeCardTimings,
  type Recording,
  type RunLine,
  type RunSample,
  collectRunSamples,
  type TornLine,
} from "../recording/index.ts";
import {
  type Bottleneck,
  computeBottlenecks,
  computeCriticalPath,
  computePathDuration,
} from "./critical-path.ts";
import { computeCardStatistics, type CardStatistics } from "./card-statistics.ts";
import { type RunFinding, RUN_FINDING_KINDS, detectRunFindings } from "./run-findings.ts";
import { type TokenLedger, computeTokenLedger } from "./token-ledger.ts";
import {
  computeMeasureMeans,
  type DistributionSummary,
  sumBy,
  summarizeDistribution,
} from "./distribution.ts";
import { type RoleTime, computeRoleTimes } from "./role-times.ts";
import { computeSpecificationStatistics, type SpecificationStatistics } from "./specification-statistics.ts";
import {
  type ReplyLatency,
  summarizeReplyLatency,
  type RoleSpending,
  summarizeRoleSpending,
} from "./role-spending.ts";
import {
  computeTokenPrice,
  sumUsageTokens,
  type TokenTariff,
  findCardTokenTotal,
  type TokenCounts,
} from "./token-counts.ts";
import { type IntervalEstimate, computeWilsonInterval } from "./wilson-interval.ts";

/** Everything that can be said of a run, as one value; numbers that there are none for are `undefined`. */
export interface RunReport {
  /** What the run is, without the list of its problems. */
  readonly run: Omit<RunLine, "v" | "kind" | "sample_ids"> | undefined;
  /** What cannot be said, and why. */
  readonly unknown: readonly string[];
  /** Promises that are broken, in words; a run that is right has none. */
  readonly broken: readonly string[];
  readonly samples: {
    readonly total: number;
    readonly done: number;
    /** Begun and not done: interrupted, or still under way. */
    readonly open: number;
  };
  /** Of the problems that are done. */
  readonly accuracy: IntervalEstimate | undefined;
  /** Means of the dataset's other measures, for example `f1`. */
  readonly measures: Readonly<Record<string, number>>;
  readonly figures: CardStatistics | undefined;
  readonly seed: SpecificationStatistics | undefined;
  readonly tokens: TokenReport;
  readonly spending: readonly RoleSpending[];
  readonly ledger: TokenLedger | undefined;
  readonly time: TimeReport;
  readonly findings: readonly RunFinding[];
  /** How often each kind was found; only those that were. */
  readonly found: Readonly<Record<string, number>>;
  readonly ends: readonly EndLine["status"][];
  /** Lines of the record were lost. */
  readonly degraded: boolean;
  /** What was spent on attempts that were interrupted and begun again; in no other figure. */
  readonly abandoned: { readonly cards: number; readonly calls: number; readonly tokens: TokenCounts };
  readonly clocks: readonly ClockAdjustment[];
  readonly torn: readonly TornLine[];
}

export interface TokenReport {
  /** Of all cards that tell input and output apart (`usage`). */
  readonly sum: TokenCounts;
  /** Input and output of all cards, with those that tell no more than their sum (`tokens`). */
  readonly total: number;
  /** Input and output, by problem that is done (or, without a run, by problem). */
  readonly perSample: DistributionSummary | undefined;
  /** Of input and output, what was estimated: 0 to 1; `undefined` where there are no tokens. */
  readonly estimatedShare: number | undefined;
  /** Cards of `usage.source` none: a model worked on them and nobody knows what it took. */
  readonly silent: number;
  /** By the tariff; `undefined` without one. */
  readonly price: number | undefined;
}

export interface TimeReport {
  /** From a problem's first task to the last reply to it, in milliseconds. */
  readonly perSample: DistributionSummary | undefined;
  readonly bottlenecks: readonly Bottleneck[];
  /** Of all problems together. */
  readonly roles: readonly RoleTime[];
  readonly latency: readonly ReplyLatency[];
}

export interface RunReportOptions {
  readonly tariff?: TokenTariff;
}

/** What a recording says. Pure: the same recording gives the same report. */
export function buildRunReport(recording: Recording, { tariff }: RunReportOptions = {}): RunReport {
  const { run, scores, ends, torn, clocks, abandoned } = recording;
  const samples = collectRunSamples(recording);
  const cards = listRecordedCards(recording);
  const named = samples.filter(({ id }) => id !== undefined);
  const settled = named.filter((sample) => isSampleSettled(sample, run));
  const looked = samples.map((sample) => ({ sample, moments: computeCardTimings(sample.cardLines) }));

  const findings = looked.flatMap(({ sample, moments }) =>
    detectRunFindings({
      ...sample,
      timings: moments,
      isSettled: sample.id === undefined || isSampleSettled(sample, run),
    }),
  );
  const ledger = recording.calls.length > 0 ? computeTokenLedger(settled, recording) : undefined;
  const isElsewhere = isRecordedElsewhere(PLANNER, recording);
  const ids = named.flatMap(({ id }) => id ?? []);
  const isCut = torn.some(({ last }) => !last);
  const degraded = ends.some(({ recorder }) => recorder === "degraded");
  return {
    run: run && omitSampleIds(run),
    unknown: listUnknowns(recording, cards, ids.length, ledger, isElsewhere),
    broken: listViolations(findings, ledger, degraded, isCut),
    samples: {
      total: ids.length,
      done: scores.length,
      open: run ? named.filter(({ score, cards }) => !score && cards.length > 0).length : 0,
    },
    accuracy:
      scores.length > 0
        ? computeWilsonInterval(scores.filter(({ correct }) => correct).length, scores.length)
        : undefined,
    measures: computeMeasureMeans(scores),
    figures:
      cards.length + ids.length > 0
        ? { ...computeCardStatistics(cards, ids), ...(isElsewhere && { solverTasks: undefined }) }
        : undefined,
    seed: ids.length > 0 ? computeSpecificationStatistics(cards, ids.length) : undefined,
    tokens: buildTokenReport(cards, settled, tariff),
    spending: summarizeRoleSpending(cards),
    ledger,
    time: buildTimeReport(looked, cards),
    findings: findings.toSorted(
      (a, b) => RUN_FINDING_ORDER.indexOf(a.kind) - RUN_FINDING_ORDER.indexOf(b.kind),
    ),
    found: Object.fromEntries(
      RUN_FINDING_ORDER.flatMap((kind) => {
        const count = findings.filter((finding) => finding.kind === kind).length;
        return count > 0 ? [[kind, count]] : [];
      }),
    ),
    ends: ends.map(({ status }) => status),
    degraded,
    abandoned: {
      cards: listRecordedCards(abandoned).length,
      calls: abandoned.calls.length,
      tokens: sumUsageTokens(abandoned.calls.map(({ usage }) => usage)),
    },
    clocks,
    torn,
  };
}

/** The planner has spoken, and neither its own record is here nor what it would have told of it. */
function isRecordedElsewhere(planner: string, { run, cards }: Recording): boolean {
  if (!run) return false;
  const spoken = cards.filter(
    ({ card }) => card.sender === planner && card.metadata["written_by"] === undefined,
  );
  return spoken.length > 0 && spoken.every(({ dir }) => dir === "in");
}

const RUN_FINDING_ORDER: readonly string[] = Object.keys(RUN_FINDING_KINDS);

/** A problem of a run is when it is scored; of what a role alone recorded, nobody can tell. */
function isSampleSettled({ score }: RunSample, run: RunLine | undefined): boolean {
  return run === undefined || score !== undefined;
}

function omitSampleIds({ v: _v, kind: _kind, sample_ids: _ids, ...about }: RunLine): RunReport["run"] {
  return about;
}

function listUnknowns(
  { run, calls }: Recording,
  cards: readonly MessageCard[],
  samples: number,
  ledger: TokenLedger | undefined,
  isElsewhere: boolean,
): string[] {
  const unknown: string[] = [];
  if (!run) {
    unknown.push(
      "which problems there were, and which answers are right: there is no record of the run (name its .cards.jsonl)",
    );
    if (samples === 0 && cards.length > 0)
      unknown.push("figures by problem: the cards name none (metadata.sample_id)");
  }
  if (cards.some(({ metadata }) => metadata.card_id === undefined))
    unknown.push(
      "what replies to what, where cards have no metadata.card_id: no critical path, no missing replies",
    );
  if (isElsewhere)
    unknown.push("whom the planner has asked: it keeps its record elsewhere (name its .cards.jsonl, too)");
  if (calls.length === 0 && cards.some(({ metadata }) => metadata.usage))
    unknown.push("whether the tokens on the cards are all that were spent: no model calls are recorded");
  for (const role of ledger?.unchecked ?? [])
    unknown.push(`whether the tokens on the cards of ${role} are right: somebody else records its calls`);
  return unknown;
}

function listViolations(
  findings: readonly RunFinding[],
  ledger: TokenLedger | undefined,
  degraded: boolean,
  isCut: boolean,
): string[] {
  const broken = Object.entries(RUN_FINDING_KINDS).flatMap(
    ([kind, { isViolation: broken, description: about }]) => {
      const all = findings.filter((finding) => finding.kind === kind);
      return broken && all.length > 0
        ? `${all.length} × ${about}, the first in ${formatSampleId(all[0]?.sample_id)}`
        : [];
    },
  );
  if (ledger && !ledger.ok) {
    const { mismatches } = ledger;
    const [{ sample_id, role, cards, calls }] = mismatches as [TokenLedger["mismatches"][number]];
    const difference = cards.input + cards.output - calls.input - calls.output;
    broken.push(
      `the ledger: ${mismatches.length} of ${ledger.checked} sums differ, the first in ${formatSampleId(sample_id)}: ` +
        `the cards of ${role} have ${formatSignedNumber(difference)} tokens against its calls`,
    );
  }
  if (degraded) broken.push("the record: lines were lost while it was written");
  if (isCut) broken.push("the record: lines in its middle cannot be read");
  return broken;
}

function formatSampleId(sample: string | undefined): string {
  return sample ?? "cards without a problem";
}

function formatSignedNumber(difference: number): string {
  return difference < 0 ? String(difference) : `+${difference}`;
}

function buildTokenReport(
  cards: readonly MessageCard[],
  settled: readonly RunSample[],
  tariff: TokenTariff | undefined,
): TokenReport {
  const sum = sumUsageTokens(cards.map(({ metadata }) => metadata.usage));
  const estimated = sumUsageTokens(
    cards.flatMap(({ metadata: { usage } }) => (usage?.source === "estimated" ? usage : [])),
  );
  const all = sum.input + sum.output;
  const totals = settled.map((sample) => sumCardTokens(sample.cards));
  return {
    sum,
    total: sumCardTokens(cards),
    perSample: totals.length > 0 ? summarizeDistribution(totals) : undefined,
    estimatedShare: all > 0 ? (estimated.input + estimated.output) / all : undefined,
    silent: cards.filter(({ metadata }) => metadata.usage?.source === "none").length,
    price: tariff && computeTokenPrice(sum, tariff),
  };
}

function sumCardTokens(cards: readonly MessageCard[]): number {
  return sumBy(cards, (card) => findCardTokenTotal(card) ?? 0);
}

function buildTimeReport(
  looked: readonly { sample: RunSample; moments: ReturnType<typeof computeCardTimings> }[],
  cards: readonly MessageCard[],
): TimeReport {
  const named = looked.filter(({ sample }) => sample.id !== undefined);
  const paths = named.map(({ moments }) => computeCriticalPath(moments)).filter((path) => path.length > 0);
  const lengths = paths.map(computePathDuration);
  const roles = Map.groupBy(
    named.flatMap(({ moments }) => computeRoleTimes(moments)),
    ({ role }) => role,
  );
  return {
    perSample: lengths.length > 0 ? summarizeDistribution(lengths) : undefined,
    bottlenecks: computeBottlenecks(paths),
    roles: [...roles].map(([role, times]) => ({
      role,
      workingMs: sumBy(times, (time) => time.workingMs),
      waitingMs: sumBy(times, (time) => time.waitingMs),
    })),
    latency: summarizeReplyLatency(cards, parseCardTime),
  };
}
