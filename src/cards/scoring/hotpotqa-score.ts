/** Exact match, F1, precision, and recall of an answer. The exact match is 1 or 0. */
interface OverlapScore {
  readonly exact: number;
  readonly f1: number;
  readonly precision: number;
  readonly recall: number;
}

/**
 * Normalizes an answer in the same way as HotpotQA's official script. The function converts text to lower
 * case and removes ASCII punctuation, articles, and repeated spaces.
 */
export function normalizeAnswer(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(PUNCTUATION_PATTERN, "")
    .replaceAll(ARTICLE_PATTERN, " ")
    .split(/\s+/)
    .filter(Boolean)
    .join(" ");
}

/**
 * Scores a HotpotQA answer by exact match and by F1 over words. The answers `yes`, `no`, and `noanswer`
 * receive no partial credit for words that they share with another answer.
 */
export function scoreHotpotQaAnswer(predicted: string, gold: string): OverlapScore {
  const left = normalizeAnswer(predicted);
  const right = normalizeAnswer(gold);
  if (left === right && left !== "") return { exact: 1, f1: 1, precision: 1, recall: 1 };
  const exact = left === right ? 1 : 0;
  if (ANSWERS_WITHOUT_PARTIAL_CREDIT.has(left) || ANSWERS_WITHOUT_PARTIAL_CREDIT.has(right))
    return computeOverlapScore(exact, 0, 1, 1);
  const words = left.split(" ").filter(Boolean);
  const goldWords = right.split(" ").filter(Boolean);
  return computeOverlapScore(exact, countSharedWords(words, goldWords), words.length, goldWords.length);
}

function computeOverlapScore(exact: number, shared: number, predicted: number, gold: number): OverlapScore {
  const precision = predicted > 0 ? shared / predicted : 0;
  const recall = gold > 0 ? shared / gold : 0;
  return { exact, f1: computeHarmonicMean(precision, recall), precision, recall };
}

function computeHarmonicMean(precision: number, recall: number): number {
  return precision + recall > 0 ? (2 * precision * recall) / (precision + recall) : 0;
}

/** Counts the words that two texts share. A word that both texts repeat counts more than once. */
function countSharedWords(left: readonly string[], right: readonly string[]): number {
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

const ANSWERS_WITHOUT_PARTIAL_CREDIT: ReadonlySet<string> = new Set(["yes", "no", "noanswer"]);
const PUNCTUATION_PATTERN = /[!-/:-@[-`{-~]/g;
// The pattern does not use `\b`, because JavaScript supports only ASCII letters there and Python supports all
// scripts.
const ARTICLE_PATTERN = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu;
