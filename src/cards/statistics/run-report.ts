import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { type MessageCard, PLANNER, parseCardTime } from "../message-card/index.ts";
import type { RunEndLine, Recording, RunLine, TornLine } from "../recording/index.ts";
import type { CardCallTokenComparison } from "./card-call-token-comparison.ts";
import type { DistributionSummary } from "./distribution.ts";
import { type ReplyLatency, summarizeReplyLatency } from "./role-spending.ts";
import { analyzeSample, computeRunFigures, type RunFigures } from "./run-figures.ts";
import { RUN_FINDING_KINDS } from "./run-findings.ts";
import {
  computeSpecificationFormulaStatistics,
  type SpecificationFormulaStatistics,
} from "./specification-formula-statistics.ts";
import { computeTokenPrice, sumUsageTokens, type TokenTariff, type TokenCounts } from "./token-counts.ts";

/** All statistics of a run. Statistics without data are `undefined`. */
export interface RunReport extends Pick<
  RunFigures,
  "samples" | "accuracy" | "measures" | "figures" | "spending" | "ledger" | "findings"
> {
  /** Run line of the recording, without the list of problem IDs. */
  readonly run: Omit<RunLine, "v" | "kind" | "writer" | "seq" | "mono_ms" | "sample_ids"> | undefined;
  /** Reasons why some statistics cannot be computed. */
  readonly unknown: readonly string[];
  /** Message cards that violate a guarantee of the card protocol. */
  readonly violations: readonly string[];
  /** Summaries of all violated guarantees, empty for a correct run. */
  readonly broken: readonly string[];
  readonly seed: SpecificationFormulaStatistics | undefined;
  readonly tokens: TokenReport;
  readonly time: TimeReport;
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

/** Token statistics of a run. */
type TokenReport = RunFigures["tokens"] & {
  /** Share of estimated tokens, from 0 to 1, or `undefined` if there are no tokens. */
  readonly estimatedShare: number | undefined;
  /** Price of all tokens according to the tariff, or `undefined` without a tariff. */
  readonly price: number | undefined;
};

/** Time statistics of a run. */
interface TimeReport {
  /** Time in milliseconds from the first task of a problem to the last reply. */
  readonly perSample: DistributionSummary | undefined;
  readonly latency: readonly ReplyLatency[];
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
  const { tariff } = options;
  const { run, cards, calls, ends, torn, abandoned } = recording;
  const analyzed = recording.samples.map((sample) => analyzeSample(sample, run));
  const violations = analyzed.flatMap(({ id, violations }) =>
    violations.map((what) => `${formatSampleId(id)}: ${what}`),
  );
  const computed = computeRunFigures(analyzed, run, calls);
  const { findings, ledger, figures, tokens, timePerSample, ...shared } = computed;
  const isElsewhere = isPlannerRecordedElsewhere(PLANNER, recording);
  const { total } = computed.samples;
  const isCut = torn.some(({ last }) => !last);
  const degraded = ends.some(({ recorder }) => recorder === "degraded");
  return {
    ...shared,
    run: run && omitRunLineSampleIds(run),
    unknown: listReasonsForMissingStatistics(recording, cards, total, ledger, isElsewhere),
    violations,
    broken: listViolatedRunGuarantees(violations, ledger, degraded, isCut),
    figures: figures && { ...figures, ...(isElsewhere && { solverTasks: undefined }) },
    seed: total > 0 ? computeSpecificationFormulaStatistics(cards, total) : undefined,
    tokens: {
      ...tokens,
      estimatedShare: tokens.total > 0 ? tokens.estimated / tokens.total : undefined,
      price: tariff && computeTokenPrice(tokens.sum, tariff),
    },
    ledger,
    time: { perSample: timePerSample, latency: summarizeReplyLatency(cards, parseCardTime) },
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

/**
 * Returns whether the recording contains replies of the planner, but neither its model calls nor its delegations.
 */
function isPlannerRecordedElsewhere(planner: string, { run, cards, calls }: Recording): boolean {
  if (!run) return false;
  const sent = cards.filter(
    ({ sender, metadata }) => sender === planner && metadata["written_by"] === undefined,
  );
  const hasDelegated = sent.some(({ message_type }) => message_type === "task");
  return sent.length > 0 && !hasDelegated && !calls.some(({ role }) => role === planner);
}

function omitRunLineSampleIds({
  v: _v,
  kind: _kind,
  writer: _writer,
  seq: _seq,
  mono_ms: _mono,
  sample_ids: _ids,
  ...rest
}: RunLine): RunReport["run"] {
  return rest;
}

function listReasonsForMissingStatistics(
  { run, calls }: Recording,
  cards: readonly MessageCard[],
  samples: number,
  ledger: CardCallTokenComparison | undefined,
  isElsewhere: boolean,
): string[] {
  const unknown: string[] = [];
  if (!run) {
    unknown.push(
      "which problems there were, and which answers are correct: the run has no record (name its .cards.jsonl)",
    );
    if (samples === 0 && cards.length > 0)
      unknown.push("figures by problem: the cards have no metadata.sample_id");
  }
  if (cards.some(({ metadata }) => metadata.card_id === undefined))
    unknown.push("replies of cards without metadata.card_id: no durations, no missing replies");
  if (isElsewhere)
    unknown.push("delegations of the planner: another process recorded them (name its .cards.jsonl, too)");
  if (calls.length === 0 && cards.some(({ metadata }) => metadata.usage))
    unknown.push("whether the cards report all tokens: no model calls are recorded");
  for (const role of ledger?.unchecked ?? [])
    unknown.push(`whether the tokens on the cards of ${role} are correct: another process records its calls`);
  return unknown;
}

function listViolatedRunGuarantees(
  violations: readonly string[],
  ledger: CardCallTokenComparison | undefined,
  degraded: boolean,
  isCut: boolean,
): string[] {
  const [first] = violations;
  const broken =
    first === undefined
      ? []
      : [
          `the protocol: ${violations.length} ${violations.length === 1 ? "violation" : "violations"}, the first in ${first}`,
        ];
  if (ledger && !ledger.ok) {
    const { mismatches } = ledger;
    const [{ sample_id, role, cards, calls }] = mismatches as [CardCallTokenComparison["mismatches"][number]];
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
