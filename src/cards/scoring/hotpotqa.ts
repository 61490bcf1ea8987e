import type { SupportingFact } from "../data/index.ts";

/** Precision, recall and their harmonic mean; `exact` is 1 or 0. */
export interface Overlap {
  readonly exact: number;
  readonly f1: number;
  readonly precision: number;
  readonly recall: number;
}

/** The normalisation of the official script: lower case, no ASCII punctuation, no articles, single spaces. */
export function normalizeAnswer(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(PUNCTUATION, "")
    .replaceAll(ARTICLE, " ")
    .split(/\s+/)
    .filter(Boolean)
    .join(" ");
}

/** Exact match and F1 over words. `yes`, `no` and `noanswer` earn nothing by sharing a word. */
export function scoreHotpotAnswer(predicted: string, gold: string): Overlap {
  const left = normalizeAnswer(predicted);
  const right = normalizeAnswer(gold);
  if (left === right && left !== "") return { exact: 1, f1: 1, precision: 1, recall: 1 };
  const exact = left === right ? 1 : 0;
  if (CLOSED.has(left) || CLOSED.has(right)) return overlap(exact, 0, 1, 1);
  const words = left.split(" ").filter(Boolean);
  const wanted = right.split(" ").filter(Boolean);
  return overlap(exact, sharedWords(words, wanted), words.length, wanted.length);
}

/** The same over supporting sentences. */
export function scoreSupportingFacts(
  predicted: readonly SupportingFact[],
  gold: readonly SupportingFact[],
): Overlap {
  const left = new Set(predicted.map(keyOf));
  const right = new Set(gold.map(keyOf));
  const shared = [...left].filter((fact) => right.has(fact)).length;
  return overlap(left.size === right.size && shared === right.size ? 1 : 0, shared, left.size, right.size);
}

/** The answer and its sentences together: products of the two precisions and of the two recalls. */
export function scoreJoint(answer: Overlap, facts: Overlap): Overlap {
  const precision = answer.precision * facts.precision;
  const recall = answer.recall * facts.recall;
  return { exact: answer.exact * facts.exact, f1: harmonic(precision, recall), precision, recall };
}

function overlap(exact: number, shared: number, predicted: number, gold: number): Overlap {
  const precision = predicted > 0 ? shared / predicted : 0;
  const recall = gold > 0 ? shared / gold : 0;
  return { exact, f1: harmonic(precision, recall), precision, recall };
}

function harmonic(precision: number, recall: number): number {
  return precision + recall > 0 ? (2 * precision * recall) / (precision + recall) : 0;
}

/** A word counts as often as both have it. */
function sharedWords(left: readonly string[], right: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const word of right) counts.set(word, (counts.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of left) {
    const count = counts.get(word) ?? 0;
    if (count > 0) shared += 1;
    counts.set(word, count - 1);
  }
  return shared;
}

function keyOf({ title, sentence }: SupportingFact): string {
  return `${sentence} ${title}`;
}

const CLOSED: ReadonlySet<string> = new Set(["yes", "no", "noanswer"]);
const PUNCTUATION = /[!-/:-@[-`{-~]/g;
// Python's \b knows the letters of all scripts, JavaScript's only those of ASCII.
const ARTICLE = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu;
