import type { MessageCard } from "../message-card/index.ts";
import {
  type Bottleneck,
  type IntervalEstimate,
  type RunFinding,
  type TokenLedger,
  computeMean,
  computeMeasureMeans,
  computeTokenLedger,
  countBy,
  type RoleSpending,
  sumBy,
  summarizeRoleSpending,
  computeWilsonInterval,
} from "../statistics/index.ts";
import { analyzeSample, groupRunFindings, computeRunBottlenecks } from "./sample-analysis.ts";
import type { RunModel } from "./run-model.ts";
import { countCardTokens } from "./sample-summary.ts";

/** Figures of the entire run for the page. */
export interface RunOverview {
  readonly sampleCount: number;
  readonly doneCount: number;
  readonly correctCount: number;
  /** Accuracy over the finished problems, or `undefined` if there are none. */
  readonly accuracy: IntervalEstimate | undefined;
  /** Means of the additional measures of the dataset, over the problems that have them. */
  readonly measureMeans: Readonly<Record<string, number>>;
  readonly cardCount: number;
  readonly errorCount: number;
  /** Number of problems whose last result has the status `partial`. */
  readonly partialCount: number;
  readonly tokenCount: number;
  /** Mean tokens per finished problem, or `undefined` if there are none. */
  readonly meanTokens: number | undefined;
  /** Number of estimated tokens among all tokens. */
  readonly estimatedTokens: number;
  /** Token ledger, or `undefined` if no model call is recorded. */
  readonly ledger: TokenLedger | undefined;
  /** Median duration of a finished problem in milliseconds. */
  readonly medianMs: number | undefined;
  readonly roleEdges: readonly RoleEdge[];
  readonly spending: readonly RoleSpending[];
  /** Bottlenecks of the critical paths, the longest first. */
  readonly bottlenecks: readonly Bottleneck[];
  readonly findingsByKind: ReadonlyMap<RunFinding["kind"], readonly RunFinding[]>;
}

/** Cards from one role to another. */
export interface RoleEdge {
  readonly from: string;
  readonly to: string;
  readonly cardCount: number;
  /** Number of cards by type. */
  readonly countByType: Readonly<Record<string, number>>;
  readonly tokens: number;
  /** Mean working time per card in milliseconds, or `undefined` if no card reports it. */
  readonly averageMs: number | undefined;
}

/** Computes the figures of a run. */
export function summarizeRun(model: RunModel): RunOverview {
  const named = model.samples.filter(({ id }) => id !== "");
  const cards = model.samples.flatMap((sample) => sample.cards.map(({ card }) => card));
  const scores = named.flatMap(({ score }) => score ?? []);
  const correct = scores.filter((score) => score.correct).length;
  const summaries = named.map((sample) => analyzeSample(sample, model).summary);
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
    ledger: computeRunLedger(model),
    medianMs: times[Math.floor(times.length / 2)],
    roleEdges: summarizeRoleEdges(cards),
    spending: summarizeRoleSpending(cards),
    bottlenecks: computeRunBottlenecks(model),
    findingsByKind: groupRunFindings(model),
  };
}

/**
 * Computes the ledger over the finished problems, because in an unfinished problem a call may be recorded
 * before its card.
 */
function computeRunLedger(model: RunModel): TokenLedger | undefined {
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
  return computeTokenLedger(settled, { cards, calls });
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
 * Returns the roles of cards: first the core roles in the order of delegation, then the others in the order
 * of their first card.
 */
export function listRoles(cards: Iterable<Pick<MessageCard, "sender" | "recipient">>): string[] {
  const roles = new Set<string>();
  for (const { sender, recipient } of cards) roles.add(sender).add(recipient);
  const first = ["controller", "planner", "solver"].filter((role) => roles.has(role));
  return [...new Set([...first, ...roles])];
}
