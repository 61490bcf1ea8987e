import type { Card } from "../card/index.ts";
import {
  type Bottleneck,
  type Estimate,
  type Finding,
  type Ledger,
  ledgerOf,
  type Spending,
  spendingOf,
  wilson,
} from "../statistics/index.ts";
import { analysisOf, foundIn, waitsOf } from "./analysis.ts";
import type { RunModel } from "./run-model.ts";
import { tokensOf } from "./summary.ts";

/** What the page says of the whole run. */
export interface Overview {
  readonly problems: number;
  readonly done: number;
  readonly correct: number;
  /** Of the problems that are done; `undefined` before the first. */
  readonly accuracy: Estimate | undefined;
  /** Means of the dataset's other measures, of the problems that have them. */
  readonly measures: Readonly<Record<string, number>>;
  readonly cards: number;
  readonly errors: number;
  /** Problems whose last result is `partial`. */
  readonly partial: number;
  readonly tokens: number;
  /** Of a problem that is done, the mean; `undefined` before the first. */
  readonly tokensEach: number | undefined;
  /** Of the tokens, those that were estimated. */
  readonly estimated: number;
  /** `undefined` where no model call is on record. */
  readonly ledger: Ledger | undefined;
  /** Milliseconds of a problem, the median. */
  readonly medianMs: number | undefined;
  readonly edges: readonly Edge[];
  readonly spending: readonly Spending[];
  /** What answers waited for, the longest first. */
  readonly waits: readonly Bottleneck[];
  readonly found: ReadonlyMap<Finding["kind"], readonly Finding[]>;
}

/** Cards from one role to another. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly cards: number;
  /** `task`: 1,319 … */
  readonly types: Readonly<Record<string, number>>;
  readonly tokens: number;
  /** What their senders spent on each; `undefined` where none of them says. */
  readonly averageMs: number | undefined;
}

export function overviewOf(model: RunModel): Overview {
  const named = model.samples.filter(({ id }) => id !== "");
  const cards = model.samples.flatMap((sample) => sample.cards.map(({ card }) => card));
  const scores = named.flatMap(({ score }) => score ?? []);
  const correct = scores.filter((score) => score.correct).length;
  const summaries = named.map((sample) => analysisOf(sample, model).summary);
  const judged = summaries.filter(({ outcome }) => outcome === "correct" || outcome === "wrong");
  const times = judged.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return {
    problems: named.length,
    done: scores.length,
    correct,
    accuracy: scores.length > 0 ? wilson(correct, scores.length) : undefined,
    measures: meansOf(scores.map(({ measures }) => measures ?? {})),
    cards: cards.length,
    errors: cards.filter((card) => card.message_type === "error").length,
    partial: summaries.filter(({ partial }) => partial).length,
    tokens: cards.reduce((sum, card) => sum + tokensOf(card), 0),
    tokensEach:
      judged.length > 0 ? judged.reduce((sum, { tokens }) => sum + tokens, 0) / judged.length : undefined,
    estimated: cards.reduce(
      (sum, card) => sum + (card.metadata.usage?.source === "estimated" ? tokensOf(card) : 0),
      0,
    ),
    ledger: ledgerOfRun(model),
    medianMs: times[Math.floor(times.length / 2)],
    edges: edgesOf(cards),
    spending: spendingOf(cards),
    waits: waitsOf(model),
    found: foundIn(model),
  };
}

/** Of problems that are done: a call may be behind others and its card not yet. */
function ledgerOfRun(model: RunModel): Ledger | undefined {
  const settled = model.samples
    .filter(({ score }) => model.run === undefined || score !== undefined)
    .map(({ id, cards, calls, score }) => ({
      id,
      cards: cards.map(({ card }) => card),
      lines: cards.map(({ line }) => line),
      calls,
      score,
    }));
  const calls = model.samples.flatMap((sample) => sample.calls);
  if (calls.length === 0) return undefined;
  const cards = model.samples.flatMap((sample) => sample.cards.map(({ line }) => line));
  return ledgerOf(settled, { cards, calls });
}

function edgesOf(cards: readonly Card[]): Edge[] {
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
      cards: group.length,
      types,
      tokens: group.reduce((sum, card) => sum + tokensOf(card), 0),
      averageMs: told.length > 0 ? told.reduce((sum, ms) => sum + ms, 0) / told.length : undefined,
    };
  });
}

function meansOf(measures: readonly Readonly<Record<string, number>>[]): Record<string, number> {
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
export function rolesOf(cards: Iterable<Pick<Card, "sender" | "recipient">>): string[] {
  const roles = new Set<string>();
  for (const { sender, recipient } of cards) roles.add(sender).add(recipient);
  const first = ["controller", "planner", "solver"].filter((role) => roles.has(role));
  return [...new Set([...first, ...roles])];
}
