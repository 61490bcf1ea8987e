import { type Card, PLANNER, timeOf } from "../card/index.ts";
import {
  cardsOf,
  type Clock,
  type EndLine,
  momentsOf,
  type Recording,
  type RunLine,
  type RunSample,
  samplesOf,
  type TornLine,
} from "../record/index.ts";
import { type Bottleneck, bottlenecksOf, criticalPathOf } from "./critical-path.ts";
import { figuresOf, type Figures } from "./figures.ts";
import { type Finding, FINDINGS, findingsOf } from "./findings.ts";
import { type Ledger, ledgerOf } from "./ledger.ts";
import { type Spread, spreadOf } from "./quantile.ts";
import { type RoleTime, roleTimesOf } from "./role-times.ts";
import { seedFigures, type SeedFigures } from "./seed.ts";
import { type Latency, latencyOf, type Spending, spendingOf } from "./spending.ts";
import { priceOf, sumTokens, type Tariff, totalOfCard, type Tokens } from "./usage.ts";
import { type Estimate, wilson } from "./wilson.ts";

/** Everything that can be said of a run, as one value; numbers that there are none for are `undefined`. */
export interface Report {
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
  readonly accuracy: Estimate | undefined;
  /** Means of the dataset's other measures, for example `f1`. */
  readonly measures: Readonly<Record<string, number>>;
  readonly figures: Figures | undefined;
  readonly seed: SeedFigures | undefined;
  readonly tokens: TokenReport;
  readonly spending: readonly Spending[];
  readonly ledger: Ledger | undefined;
  readonly time: TimeReport;
  readonly findings: readonly Finding[];
  /** How often each kind was found; only those that were. */
  readonly found: Readonly<Record<string, number>>;
  readonly ends: readonly EndLine["status"][];
  /** Lines of the record were lost. */
  readonly degraded: boolean;
  /** What was spent on attempts that were interrupted and begun again; in no other figure. */
  readonly abandoned: { readonly cards: number; readonly calls: number; readonly tokens: Tokens };
  readonly clocks: readonly Clock[];
  readonly torn: readonly TornLine[];
}

export interface TokenReport {
  /** Of all cards that tell input and output apart (`usage`). */
  readonly sum: Tokens;
  /** Input and output of all cards, with those that tell no more than their sum (`tokens`). */
  readonly total: number;
  /** Input and output, by problem that is done (or, without a run, by problem). */
  readonly perSample: Spread | undefined;
  /** Of input and output, what was estimated: 0 to 1; `undefined` where there are no tokens. */
  readonly estimatedShare: number | undefined;
  /** Cards of `usage.source` none: a model worked on them and nobody knows what it took. */
  readonly silent: number;
  /** By the tariff; `undefined` without one. */
  readonly price: number | undefined;
}

export interface TimeReport {
  /** From a problem's first task to the last reply to it, in milliseconds. */
  readonly perSample: Spread | undefined;
  readonly bottlenecks: readonly Bottleneck[];
  /** Of all problems together. */
  readonly roles: readonly RoleTime[];
  readonly latency: readonly Latency[];
}

export interface ReportOptions {
  readonly tariff?: Tariff;
}

/** What a recording says. Pure: the same recording gives the same report. */
export function reportOf(recording: Recording, { tariff }: ReportOptions = {}): Report {
  const { run, scores, ends, torn, clocks, abandoned } = recording;
  const samples = samplesOf(recording);
  const cards = cardsOf(recording);
  const named = samples.filter(({ id }) => id !== undefined);
  const settled = named.filter((sample) => isSettled(sample, run));
  const looked = samples.map((sample) => ({ sample, moments: momentsOf(sample.lines) }));

  const findings = looked.flatMap(({ sample, moments }) =>
    findingsOf({ ...sample, moments, settled: sample.id === undefined || isSettled(sample, run) }),
  );
  const ledger = recording.calls.length > 0 ? ledgerOf(settled, recording) : undefined;
  const isElsewhere = keepsElsewhere(PLANNER, recording);
  const ids = named.flatMap(({ id }) => id ?? []);
  const isCut = torn.some(({ last }) => !last);
  const degraded = ends.some(({ recorder }) => recorder === "degraded");
  return {
    run: run && aboutOf(run),
    unknown: unknownOf(recording, cards, ids.length, ledger, isElsewhere),
    broken: brokenOf(findings, ledger, degraded, isCut),
    samples: {
      total: ids.length,
      done: scores.length,
      open: run ? named.filter(({ score, cards }) => !score && cards.length > 0).length : 0,
    },
    accuracy:
      scores.length > 0 ? wilson(scores.filter(({ correct }) => correct).length, scores.length) : undefined,
    measures: measuresOf(recording),
    figures:
      cards.length + ids.length > 0
        ? { ...figuresOf(cards, ids), ...(isElsewhere && { solverTasks: undefined }) }
        : undefined,
    seed: ids.length > 0 ? seedFigures(cards, ids.length) : undefined,
    tokens: tokensOf(cards, settled, tariff),
    spending: spendingOf(cards),
    ledger,
    time: timeOfRun(looked, cards),
    findings: findings.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind)),
    found: Object.fromEntries(
      ORDER.flatMap((kind) => {
        const count = findings.filter((finding) => finding.kind === kind).length;
        return count > 0 ? [[kind, count]] : [];
      }),
    ),
    ends: ends.map(({ status }) => status),
    degraded,
    abandoned: {
      cards: cardsOf(abandoned).length,
      calls: abandoned.calls.length,
      tokens: sumTokens(abandoned.calls.map(({ usage }) => usage)),
    },
    clocks,
    torn,
  };
}

/** The planner has spoken, and neither its own record is here nor what it would have told of it. */
function keepsElsewhere(planner: string, { run, cards }: Recording): boolean {
  if (!run) return false;
  const spoken = cards.filter(
    ({ card }) => card.sender === planner && card.metadata["written_by"] === undefined,
  );
  return spoken.length > 0 && spoken.every(({ dir }) => dir === "in");
}

const ORDER: readonly string[] = Object.keys(FINDINGS);

/** A problem of a run is when it is scored; of what a role alone recorded, nobody can tell. */
function isSettled({ score }: RunSample, run: RunLine | undefined): boolean {
  return run === undefined || score !== undefined;
}

function aboutOf({ v: _v, kind: _kind, sample_ids: _ids, ...about }: RunLine): Report["run"] {
  return about;
}

function unknownOf(
  { run, calls }: Recording,
  cards: readonly Card[],
  samples: number,
  ledger: Ledger | undefined,
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

function brokenOf(
  findings: readonly Finding[],
  ledger: Ledger | undefined,
  degraded: boolean,
  isCut: boolean,
): string[] {
  const broken = Object.entries(FINDINGS).flatMap(([kind, { broken, about }]) => {
    const all = findings.filter((finding) => finding.kind === kind);
    return broken && all.length > 0
      ? `${all.length} × ${about}, the first in ${nameOf(all[0]?.sample_id)}`
      : [];
  });
  if (ledger && !ledger.ok) {
    const { mismatches } = ledger;
    const [{ sample_id, role, cards, calls }] = mismatches as [Ledger["mismatches"][number]];
    const difference = cards.input + cards.output - calls.input - calls.output;
    broken.push(
      `the ledger: ${mismatches.length} of ${ledger.checked} sums differ, the first in ${nameOf(sample_id)}: ` +
        `the cards of ${role} have ${signed(difference)} tokens against its calls`,
    );
  }
  if (degraded) broken.push("the record: lines were lost while it was written");
  if (isCut) broken.push("the record: lines in its middle cannot be read");
  return broken;
}

function nameOf(sample: string | undefined): string {
  return sample ?? "cards without a problem";
}

function signed(difference: number): string {
  return difference < 0 ? String(difference) : `+${difference}`;
}

function measuresOf({ scores }: Recording): Record<string, number> {
  const names = new Set(scores.flatMap(({ measures = {} }) => Object.keys(measures)));
  return Object.fromEntries(
    [...names].map((name) => {
      const values = scores.flatMap(({ measures }) => measures?.[name] ?? []);
      return [name, values.reduce((sum, value) => sum + value, 0) / values.length];
    }),
  );
}

function tokensOf(
  cards: readonly Card[],
  settled: readonly RunSample[],
  tariff: Tariff | undefined,
): TokenReport {
  const sum = sumTokens(cards.map(({ metadata }) => metadata.usage));
  const estimated = sumTokens(
    cards.flatMap(({ metadata: { usage } }) => (usage?.source === "estimated" ? usage : [])),
  );
  const all = sum.input + sum.output;
  const totals = settled.map((sample) => totalOf(sample.cards));
  return {
    sum,
    total: totalOf(cards),
    perSample: totals.length > 0 ? spreadOf(totals) : undefined,
    estimatedShare: all > 0 ? (estimated.input + estimated.output) / all : undefined,
    silent: cards.filter(({ metadata }) => metadata.usage?.source === "none").length,
    price: tariff && priceOf(sum, tariff),
  };
}

function totalOf(cards: readonly Card[]): number {
  return cards.reduce((total, card) => total + (totalOfCard(card) ?? 0), 0);
}

function timeOfRun(
  looked: readonly { sample: RunSample; moments: ReturnType<typeof momentsOf> }[],
  cards: readonly Card[],
): TimeReport {
  const named = looked.filter(({ sample }) => sample.id !== undefined);
  const paths = named.map(({ moments }) => criticalPathOf(moments)).filter((path) => path.length > 0);
  const lengths = paths.map((path) => (path.at(-1)?.to ?? 0) - (path[0]?.from ?? 0));
  const roles = Map.groupBy(
    named.flatMap(({ moments }) => roleTimesOf(moments)),
    ({ role }) => role,
  );
  return {
    perSample: lengths.length > 0 ? spreadOf(lengths) : undefined,
    bottlenecks: bottlenecksOf(paths),
    roles: [...roles].map(([role, times]) => ({
      role,
      workingMs: times.reduce((sum, { workingMs }) => sum + workingMs, 0),
      waitingMs: times.reduce((sum, { waitingMs }) => sum + waitingMs, 0),
    })),
    latency: latencyOf(cards, timeOf),
  };
}
