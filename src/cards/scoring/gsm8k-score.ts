/** Rule by which a GSM8K answer is extracted from a text. */
export type Gsm8kScoringRule = "strict" | "flexible";

/** Score of a GSM8K answer. */
interface Gsm8kScore {
  /** Extracted number without `$` and thousands separators, or `undefined` if there is no number. */
  readonly predicted: string | undefined;
  readonly correct: boolean;
}

/**
 * Scores a GSM8K answer against the gold answer.
 * `strict` uses the number directly after the last `####`, `Answer:`, or `A:`. `flexible` uses the last
 * number in the text. These are the two filters of lm-evaluation-harness with two additional markers.
 */
export function scoreGsm8k(text: string, gold: string, rule: Gsm8kScoringRule): Gsm8kScore {
  const predicted = rule === "strict" ? findStrictAnswer(text) : findLastNumber(text);
  const expected = findLastNumber(gold);
  return {
    predicted,
    correct: predicted !== undefined && expected !== undefined && isSameNumber(predicted, expected),
  };
}

/** Returns the number directly after the last answer marker, or `undefined` if there is none. */
export function findStrictAnswer(text: string): string | undefined {
  const marker = [...text.matchAll(ANSWER_MARK_PATTERN)].at(-1);
  if (!marker) return undefined;
  const rest = text.slice(marker.index + marker[0].length);
  const [found] = rest.matchAll(NUMBER_PATTERN);
  // Only emphasis, a currency sign, and spaces may separate the marker and the number.
  return found && /^[\s*$]*$/.test(rest.slice(0, found.index)) ? stripNumberFormatting(found[0]) : undefined;
}

/** Returns the last number of a text, without formatting. Numbers that are written as words do not count. */
export function findLastNumber(text: string): string | undefined {
  const found = [...text.matchAll(NUMBER_PATTERN)].at(-1);
  return found && stripNumberFormatting(found[0]);
}

/**
 * Compares two numbers. Gold answers are integers, so the tolerance only absorbs rounding errors of binary
 * fractions.
 */
function isSameNumber(left: string, right: string): boolean {
  return Math.abs(Number(left) - Number(right)) <= 1e-6;
}

function stripNumberFormatting(number: string): string {
  return number.replaceAll(/[$,\s]/g, "");
}

const ANSWER_MARK_PATTERN = /####|\b(?:[Aa]nswer|ANSWER|A)\**:/g;

// A minus sign belongs to the number unless it directly follows an operand, as in `16-3`.
const NUMBER_PATTERN = /(?:(?<![\w.)\]])-)?\$?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)/g;
