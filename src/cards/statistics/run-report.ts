import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { type MessageCard, PLANNER } from "../message-card/index.ts";
import type {
  Recording,
  RecordedSample,
  RunEndLine,
  RunLine,
  ScoreLine,
  TornLine,
  RecordedCall,
} from "../recording/index.ts";
import {
  type CardStatistics,
  computeCardStatistics,
  computeSpecificationFormulaStatistics,
  type RoleSpending,
  type SpecificationFormulaStatistics,
  summarizeRoleSpending,
  formatCardSenderAndRecipient,
  computeTokenPrice,
  sumUsageTokens,
  summarizeTokens,
  type TokenCounts,
  type TokenSummary,
  type TokenTariff,
  countAnswerTokens,
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
import { truncateText } from "../../protocol/index.ts";
import { isPlaceholderText } from "../scoring/index.ts";

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

/** Descriptions of all kinds of findings, in the order that reports list the kinds. */
export const RUN_FINDING_KINDS = {
  "invalid-action": "replies of the planner's model without a valid action",
  placeholder: "tasks and answers that contain only a placeholder such as …",
  truncated: "model replies that a token limit cut off",
  "turn-limit": "problems that ran out of turns",
  "repeated-task": "subtasks that repeat an earlier subtask",
  "long-answer": "solver answers that are longer than a sentence (over 50 tokens)",
} as const;

export type RunFindingKind = keyof typeof RUN_FINDING_KINDS;

/** Finding in the message cards and model calls of one problem. */
export interface RunFinding {
  readonly kind: RunFindingKind;
  readonly sample_id: string | undefined;
  /** Human-readable description of the finding. */
  readonly what: string;
}

/** Length of the one sentence that the card specification allows a solver. */
const MAX_SHORT_ANSWER_TOKENS = 50;

/** Returns all findings of a problem. */
export function detectRunFindings({
  id,
  cards,
  calls,
}: {
  readonly id: string | undefined;
  readonly cards: readonly MessageCard[];
  readonly calls: readonly RecordedCall[];
}): RunFinding[] {
  const findings: RunFinding[] = [];
  const add = (kind: RunFindingKind, what: string): void => void findings.push({ kind, sample_id: id, what });
  const seenTasks = new Set<string>();
  for (const card of cards) {
    const { sender, recipient, message_type, content, metadata } = card;
    const { error_type, in_reply_to, attempt = 1 } = metadata;
    if (error_type === "invalid_action") add("invalid-action", content);
    if ((message_type === "task" || message_type === "result") && isPlaceholderText(content))
      add("placeholder", `${formatCardSenderAndRecipient(card)}: ${quoteContent(card)}`);
    if (message_type === "result" && sender === "solver" && recipient === "planner") {
      const tokens = countAnswerTokens(card);
      const about = metadata.usage?.source === "reported" ? "" : "about ";
      if (tokens > MAX_SHORT_ANSWER_TOKENS)
        add("long-answer", `the solver answered ${about}${tokens} tokens`);
    }
    // Only delegated tasks count: the initial requester may send the same task several times for
    // self-consistency. A retry has an attempt number.
    if (message_type === "task" && in_reply_to !== undefined && attempt === 1) {
      const key = JSON.stringify([sender, recipient, normalizeCaseAndWhitespace(content)]);
      if (seenTasks.has(key))
        add("repeated-task", `${formatCardSenderAndRecipient(card)}: ${quoteContent(card)} is repeated`);
      seenTasks.add(key);
    }
  }
  const limit = cards.find(({ metadata }) => metadata["error_type"] === "turn_limit");
  if (limit) add("turn-limit", `the last answer is ${quoteContent(limit)}`);
  for (const { line, role, turn } of calls)
    if (line.finish_reason === "length")
      add("truncated", `${role}${turn === undefined ? "" : `, turn ${turn}`}: the reply was cut off`);
  return findings;
}

/**
 * Returns descriptions of the message cards of a problem that violate a guarantee of the card protocol. Exactly one card
 * reports the tokens of each model call. Without recorded calls of a role, the tokens on its cards cannot be checked.
 */
export function listProtocolViolations({
  cards,
  calls,
  isSettled,
}: {
  readonly cards: readonly MessageCard[];
  readonly calls: readonly RecordedCall[];
  /** Whether no more message cards are expected. In unfinished problems, a call can be recorded before its card. */
  readonly isSettled: boolean;
}): string[] {
  const callsByCard = Map.groupBy(calls, ({ cardId }) => cardId);
  const recordedRoles = new Set(calls.map(({ role }) => role));
  const ids = new Set(cards.map(({ metadata }) => metadata.card_id));
  const lost = calls.filter(({ cardId, usage }) => !ids.has(cardId) && usage.source !== "none");
  // Custom card types such as `verdict` can also end a task.
  const replies = Map.groupBy(
    cards.filter(({ message_type }) => !["task", "query", "control"].includes(message_type)),
    ({ metadata }) => metadata.in_reply_to,
  );
  const found = isSettled ? lost.map(({ role }) => `no card has the tokens of a call of ${role}`) : [];
  for (const card of cards) {
    const { card_id, usage, tokens } = card.metadata;
    const add = (what: string): unknown =>
      found.push(`${formatCardSenderAndRecipient(card)}: ${quoteContent(card)} has ${what}`);
    const sum = usage && usage.input_tokens + usage.output_tokens;
    if (card.message_type === "task" && card_id !== undefined) {
      const all = replies.get(card_id) ?? [];
      const ends = all.filter(({ message_type }) => message_type === "result" || message_type === "error");
      if (all.length === 0 && isSettled) add("no reply");
      if (ends.length > 1) add(`${ends.length} replies`);
    }
    if (sum !== undefined && tokens !== undefined && sum !== tokens)
      add(`${tokens} tokens, but its usage is ${sum}`);
    if (!isSettled || card_id === undefined || !recordedRoles.has(card.sender)) continue;
    const own = sumUsageTokens([usage]);
    const called = sumUsageTokens((callsByCard.get(card_id) ?? []).map((call) => call.usage));
    if (JSON.stringify(own) !== JSON.stringify(called))
      add(`${own.input}+${own.output} tokens, but its model calls have ${called.input}+${called.output}`);
  }
  return found;
}

/** Normalizes the case and the whitespace of a task text, for comparison. */
function normalizeCaseAndWhitespace(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, " ").trim();
}

function quoteContent({ content }: MessageCard): string {
  const words = content.replaceAll(/\s+/g, " ").trim();
  return words.length > 60 ? `“${truncateText(words, 60)}…”` : `“${words}”`;
}
