/** Rule that extracts the number from the text of a GSM8K answer. */
export type Gsm8kAnswerExtractionRule = "strict" | "flexible";

/** Number extracted from a GSM8K answer, and whether this number is correct. */
interface Gsm8kScore {
  /**
   * Extracted number without `$` and thousands separators, or `undefined` if the answer contains no number.
   */
  readonly predicted: string | undefined;
  readonly correct: boolean;
}

/**
 * Scores a GSM8K answer by comparing it with the correct answer. The rule `strict` uses the number directly
 * after the last `####`, `Answer:`, or `A:`. The rule `flexible` uses the last number in the text. The rules
 * correspond to the two GSM8K filters of lm-evaluation-harness, with the additional markers `Answer:` and
 * `A:`.
 */
export function scoreGsm8k(text: string, gold: string, rule: Gsm8kAnswerExtractionRule): Gsm8kScore {
  const predicted = rule === "strict" ? findStrictAnswer(text) : findLastNumber(text);
  const expected = findLastNumber(gold);
  return {
    predicted,
    correct: predicted !== undefined && expected !== undefined && isSameNumber(predicted, expected),
  };
}

/**
 * Returns the number directly after the last answer marker, or `undefined` if no number follows the marker.
 */
export function findStrictAnswer(text: string): string | undefined {
  const marker = [...text.matchAll(ANSWER_MARK_PATTERN)].at(-1);
  if (!marker) return undefined;
  const rest = text.slice(marker.index + marker[0].length);
  const [found] = rest.matchAll(NUMBER_PATTERN);
  // Only emphasis, a currency sign, and spaces may separate the marker and the number.
  return found && /^[\s*$]*$/.test(rest.slice(0, found.index)) ? stripNumberFormatting(found[0]) : undefined;
}

/**
 * Returns the last number of a text and removes currency signs and thousands separators from the number. The
 * function ignores numbers that are written as words.
 */
export function findLastNumber(text: string): string | undefined {
  const found = [...text.matchAll(NUMBER_PATTERN)].at(-1);
  return found && stripNumberFormatting(found[0]);
}

/** Compares two numbers with a tolerance of 1e-6 for floating-point rounding errors. */
function isSameNumber(left: string, right: string): boolean {
  return Math.abs(Number(left) - Number(right)) <= 1e-6;
}

function stripNumberFormatting(number: string): string {
  return number.replaceAll(/[$,\s]/g, "");
}

const ANSWER_MARK_PATTERN = /####|\b(?:[Aa]nswer|ANSWER|A)\**:/g;

// A minus sign belongs to the number unless it directly follows an operand, as in `16-3`.
const NUMBER_PATTERN = /(?:(?<![\w.)\]])-)?\$?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)/g;
