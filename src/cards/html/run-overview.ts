import type { MessageCard } from "../message-card/index.ts";
import {
  type Bottleneck,
  type IntervalEstimate,
  type RunFinding,
  type TokenLedger,
  computeTokenLedger,
  type RoleSpending,
  summarizeRoleSpending,
  computeWilsonInterval,
} from "../statistics/index.ts";
import { analyzeSample, groupRunFindings, computeRunBottlenecks } from "./sample-analysis.ts";
import type { RunModel } from "./run-model.ts";
import { countCardTokens } from "./sample-summary.ts";

/** What the page says of the whole run. */
export interface RunOverview {
  readonly sampleCount: number;
  readonly doneCount: number;
  readonly correctCount: number;
  /** Of the problems that are done; `undefined` before the first. */
  readonly accuracy: IntervalEstimate | undefined;
  /** Means of the dataset's other measures, of the problems that have them. */
  readonly measureMeans: Readonly<Record<string, number>>;
  readonly cardCount: number;
  readonly errorCount: number;
  /** Problems whose last result is `partialCount`. */
  readonly partialCount: number;
  readonly tokenCount: number;
  /** Of a problem that is done, the mean; `undefined` before the first. */
  readonly meanTokens: number | undefined;
  /** Of the tokens, those that were estimated. */
  readonly estimatedTokens: number;
  /** `undefined` where no model call is on record. */
  readonly ledger: TokenLedger | undefined;
  /** Milliseconds of a problem, the median. */
  readonly medianMs: number | undefined;
  readonly roleEdges: readonly RoleEdge[];
  readonly spending: readonly RoleSpending[];
  /** What answers waited for, the longest first. */
  readonly bottlenecks: readonly Bottleneck[];
  readonly findingsByKind: ReadonlyMap<RunFinding["kind"], readonly RunFinding[]>;
}

/** Cards from one role to another. */
export interface RoleEdge {
  readonly from: string;
  readonly to: string;
  readonly cardCount: number;
  /** `task`: 1,319 … */
  readonly countByType: Readonly<Record<string, number>>;
  readonly tokens: number;
  /** What their senders spent on each; `undefined` where none of them says. */
  readonly averageMs: number | undefined;
}

export function summarizeRun(model: RunModel): RunOverview {
  const named = model.samples.filter(({ id }) => id !== "");
  const cards = model.samples.flatMap((sample) => sample.cards.map(({ card }) => card));
  const scores = named.flatMap(({ score }) => score ?? []);
  const correct = scores.filter((score) => score.correct).length;
  const summaries = named.map((sample) => analyzeSample(sample, model).summary);
  const judged = summaries.filter(({ outcome }) => outcome === "correct" || outcome === "wrong");
  const times = judged.map(({ durationMs: ms }) => ms).toSorted((a, b) => a - b);
  return {
    sampleCount: named.length,
    doneCount: scores.length,
    correctCount: correct,
    accuracy: scores.length > 0 ? computeWilsonInterval(correct, scores.length) : undefined,
    measureMeans: computeMeasureMeans(scores.map(({ measures }) => measures ?? {})),
    cardCount: cards.length,
    errorCount: cards.filter((card) => card.message_type === "error").length,
    partialCount: summaries.filter(({ isPartial: partial }) => partial).length,
    tokenCount: cards.reduce((sum, card) => sum + countCardTokens(card), 0),
    meanTokens:
      judged.length > 0
        ? judged.reduce((sum, { tokenCount: tokens }) => sum + tokens, 0) / judged.length
        : undefined,
    estimatedTokens: cards.reduce(
      (sum, card) => sum + (card.metadata.usage?.source === "estimated" ? countCardTokens(card) : 0),
      0,
    ),
    ledger: computeRunLedger(model),
    medianMs: times[Math.floor(times.length / 2)],
    roleEdges: summarizeRoleEdges(cards),
    spending: summarizeRoleSpending(cards),
    bottlenecks: computeRunBottlenecks(model),
    findingsByKind: groupRunFindings(model),
  };
}

/** Of problems that are done: a call may be behind others and its card not yet. */
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
    const told = group.flatMap(({ metadata }) => metadata.duration_ms ?? []);
    const types = Object.create(null) as Record<string, number>;
    for (const { message_type } of group) types[message_type] = (types[message_type] ?? 0) + 1;
    return {
      from: first.sender,
      to: first.recipient,
      cardCount: group.length,
      countByType: types,
      tokens: group.reduce((sum, card) => sum + countCardTokens(card), 0),
      averageMs: told.length > 0 ? told.reduce((sum, ms) => sum + ms, 0) / told.length : undefined,
    };
  });
}

function computeMeasureMeans(measures: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const values = Object.create(null) as Record<string, number[]>;
  for (const one of measures)
    for (const [name, value] of Object.entries(one)) (values[name] ??= []).push(value);
  return Object.fromEntries(
    Object.entries(values).map(([name, all]) => [
      name,
      all.reduce((sum, value) => sum + value, 0) / all.length,
    ]),
  );
}

/** The roles of cards: the core's in the order in which work passes, then the others as they come. */
export function listRoles(cards: Iterable<Pick<MessageCard, "sender" | "recipient">>): string[] {
  const roles = new Set<string>();
  for (const { sender, recipient } of cards) roles.add(sender).add(recipient);
  const first = ["controller", "planner", "solver"].filter((role) => roles.has(role));
  return [...new Set([...first, ...roles])];
}
