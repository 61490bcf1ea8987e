import type { MessageCard } from "../message-card/index.ts";
import {
  type CriticalPathBottleneck,
  type IntervalEstimate,
  type RunFinding,
  type CardCallTokenComparison,
  computeMean,
  computeMeasureMeans,
  compareCardAndCallTokens,
  countBy,
  type RoleSpending,
  sumBy,
  summarizeRoleSpending,
  computeWilsonInterval,
} from "../statistics/index.ts";
import {
  analyzeCriticalPathAndFindings,
  groupRunFindingsByKind,
  computeRunBottlenecks,
} from "./sample-critical-path-and-findings.ts";
import type { RunModel } from "./run-model.ts";
import { countCardTokens } from "./sample-summary.ts";

/** Statistics of the entire run in the HTML report. */
export interface RunStatistics {
  readonly sampleCount: number;
  readonly doneCount: number;
  readonly correctCount: number;
  /** Accuracy over the finished problems, or `undefined` if no problem is finished. */
  readonly accuracy: IntervalEstimate | undefined;
  /** Mean of each additional dataset measure, over the problems with that measure. */
  readonly measureMeans: Readonly<Record<string, number>>;
  readonly cardCount: number;
  readonly errorCount: number;
  /** Number of problems whose last result has the status `partial`. */
  readonly partialCount: number;
  readonly tokenCount: number;
  /** Mean number of tokens per finished problem, or `undefined` if no problem is finished. */
  readonly meanTokens: number | undefined;
  /** Number of tokens that are estimates. */
  readonly estimatedTokens: number;
  /**
   * Comparison of the tokens on message cards and on model calls, or `undefined` if no model call is
   * recorded.
   */
  readonly ledger: CardCallTokenComparison | undefined;
  /** Median duration of a finished problem in milliseconds. */
  readonly medianMs: number | undefined;
  readonly roleEdges: readonly RoleEdge[];
  readonly spending: readonly RoleSpending[];
  /** Bottlenecks on the critical paths, longest first. */
  readonly bottlenecks: readonly CriticalPathBottleneck[];
  readonly findingsByKind: ReadonlyMap<RunFinding["kind"], readonly RunFinding[]>;
}

/** Statistics of the message cards from one role to another. */
export interface RoleEdge {
  readonly from: string;
  readonly to: string;
  readonly cardCount: number;
  /** Number of message cards by type. */
  readonly countByType: Readonly<Record<string, number>>;
  readonly tokens: number;
  /** Mean working time per message card in milliseconds, or `undefined` if no card reports a working time. */
  readonly averageMs: number | undefined;
}

export function summarizeRun(model: RunModel): RunStatistics {
  const named = model.samples.filter(({ id }) => id !== "");
  const cards = model.samples.flatMap((sample) => sample.cards.map(({ card }) => card));
  const scores = named.flatMap(({ score }) => score ?? []);
  const correct = scores.filter((score) => score.correct).length;
  const summaries = named.map((sample) => analyzeCriticalPathAndFindings(sample, model).summary);
  const judged = summaries.filter(({ outcome }) => outcome === "correct" || outcome === "wrong");
  const times = judged.map(({ durationMs }) => durationMs).toSorted((a, b) => a - b);
  return {
    sampleCount: named.length,
    doneCount: scores.length,
    correctCount: correct,
    accuracy: scores.length > 0 ? computeWilsonInterval(correct, scores.length) : undefined,
    measureMeans: computeMeasureMeans(scores),
    cardCount: cards.length,
    errorCount: cards.filter((card) => card.message_type === "error").length,
    partialCount: summaries.filter(({ isPartial }) => isPartial).length,
    tokenCount: sumBy(cards, countCardTokens),
    meanTokens: judged.length > 0 ? computeMean(judged.map((summary) => summary.tokenCount)) : undefined,
    estimatedTokens: sumBy(cards, (card) =>
      card.metadata.usage?.source === "estimated" ? countCardTokens(card) : 0,
    ),
    ledger: compareRunCardAndCallTokens(model),
    medianMs: times[Math.floor(times.length / 2)],
    roleEdges: summarizeRoleEdges(cards),
    spending: summarizeRoleSpending(cards),
    bottlenecks: computeRunBottlenecks(model),
    findingsByKind: groupRunFindingsByKind(model),
  };
}

/**
 * Compares the token counts of message cards and model calls over the finished problems. Unfinished problems
 * are excluded, because a model call can be recorded before its message card.
 */
function compareRunCardAndCallTokens(model: RunModel): CardCallTokenComparison | undefined {
  const settled = model.samples
    .filter(({ score }) => model.run === undefined || score !== undefined)
    .map(({ id, cards, calls, score }) => ({
      id,
      cards: cards.map(({ card }) => card),
      cardLines: cards.map(({ line }) => line),
      calls,
      score,
    }));
  const calls = model.samples.flatMap((sample) => sample.calls);
  if (calls.length === 0) return undefined;
  const cards = model.samples.flatMap((sample) => sample.cards.map(({ line }) => line));
  return compareCardAndCallTokens(settled, { cards, calls });
}

function summarizeRoleEdges(cards: readonly MessageCard[]): RoleEdge[] {
  return [
    ...Map.groupBy(cards, ({ sender, recipient }) => JSON.stringify([sender, recipient])).values(),
  ].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const durations = group.flatMap(({ metadata }) => metadata.duration_ms ?? []);
    return {
      from: first.sender,
      to: first.recipient,
      cardCount: group.length,
      countByType: countBy(group, (card) => card.message_type),
      tokens: sumBy(group, countCardTokens),
      averageMs: durations.length > 0 ? computeMean(durations) : undefined,
    };
  });
}

/**
 * Returns the roles that sent or received message cards. The core roles come first, in the order of
 * delegation. Custom roles follow in the order of their first message card.
 */
export function listRolesInCards(cards: Iterable<Pick<MessageCard, "sender" | "recipient">>): string[] {
  const roles = new Set<string>();
  for (const { sender, recipient } of cards) roles.add(sender).add(recipient);
  const first = ["controller", "planner", "solver"].filter((role) => roles.has(role));
  return [...new Set([...first, ...roles])];
}
