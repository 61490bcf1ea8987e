/** How a GSM8K answer is found in a text. */
export type Gsm8kScoringRule = "strict" | "flexible";

export interface Gsm8kScore {
  /** The number found, without `$` and thousands commas; `undefined` where there is none. */
  readonly predicted: string | undefined;
  readonly correct: boolean;
}

/**
 * Whether a text gives the gold answer. `strict` takes the number right after the last `####`, `Answer:` or `A:`;
 * `flexible` the last number anywhere. The two filters of lm-evaluation-harness, with two more marks.
 */
export function scoreGsm8k(text: string, gold: string, rule: Gsm8kScoringRule): Gsm8kScore {
  const predicted = rule === "strict" ? findStrictAnswer(text) : findLastNumber(text);
  const expected = findLastNumber(gold);
  return {
    predicted,
    correct: predicted !== undefined && expected !== undefined && isSameNumber(predicted, expected),
  };
}

export function findStrictAnswer(text: string): string | undefined {
  const mark = [...text.matchAll(ANSWER_MARK_PATTERN)].at(-1);
  if (!mark) return undefined;
  const rest = text.slice(mark.index + mark[0].length);
  const [found] = rest.matchAll(NUMBER_PATTERN);
  // Between the mark and the number there may be emphasis, a currency and spaces, and no words.
  return found && /^[\s*$]*$/.test(rest.slice(0, found.index)) ? stripNumberFormatting(found[0]) : undefined;
}

/** The last number of a text, as the calculator writes it. Numbers in words are none. */
export function findLastNumber(text: string): string | undefined {
  const found = [...text.matchAll(NUMBER_PATTERN)].at(-1);
  return found && stripNumberFormatting(found[0]);
}

/** Golds are whole numbers; the tolerance only forgives binary fractions, as of 0.1 + 0.2. */
function isSameNumber(left: string, right: string): boolean {
  return Math.abs(Number(left) - Number(right)) <= 1e-6;
}

function stripNumberFormatting(number: string): string {
  return number.replaceAll(/[$,\s]/g, "");
}

const ANSWER_MARK_PATTERN = /####|\b(?:[Aa]nswer|ANSWER|A)\**:/g;

// A minus belongs to the number unless it stands right after something that it is taken from: `16-3`.
const NUMBER_PATTERN = /(?:(?<![\w.)\]])-)?\$?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)/g;
