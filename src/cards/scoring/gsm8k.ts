/** How a GSM8K answer is found in a text. */
export type GsmRule = "strict" | "flexible";

export interface GsmScore {
  /** The number found, without `$` and thousands commas; `undefined` where there is none. */
  readonly predicted: string | undefined;
  readonly correct: boolean;
}

/**
 * Whether a text gives the gold answer. `strict` takes the number right after the last `####`, `Answer:` or `A:`;
 * `flexible` the last number anywhere. The two filters of lm-evaluation-harness, with two more marks.
 */
export function scoreGsm8k(text: string, gold: string, rule: GsmRule): GsmScore {
  const predicted = rule === "strict" ? strictAnswer(text) : lastNumber(text);
  const expected = lastNumber(gold);
  return {
    predicted,
    correct: predicted !== undefined && expected !== undefined && isSame(predicted, expected),
  };
}

export function strictAnswer(text: string): string | undefined {
  const mark = [...text.matchAll(MARK)].at(-1);
  if (!mark) return undefined;
  const rest = text.slice(mark.index + mark[0].length);
  const [found] = rest.matchAll(NUMBER);
  // Between the mark and the number there may be emphasis, a currency and spaces, and no words.
  return found && /^[\s*$]*$/.test(rest.slice(0, found.index)) ? clean(found[0]) : undefined;
}

/** The last number of a text, as the calculator writes it. Numbers in words are none. */
export function lastNumber(text: string): string | undefined {
  const found = [...text.matchAll(NUMBER)].at(-1);
  return found && clean(found[0]);
}

/** Golds are whole numbers; the tolerance only forgives binary fractions, as of 0.1 + 0.2. */
function isSame(left: string, right: string): boolean {
  return Math.abs(Number(left) - Number(right)) <= 1e-6;
}

function clean(number: string): string {
  return number.replaceAll(/[$,\s]/g, "");
}

const MARK = /####|\b(?:[Aa]nswer|ANSWER|A)\**:/g;

// A minus belongs to the number unless it stands right after something that it is taken from: `16-3`.
const NUMBER = /(?:(?<![\w.)\]])-)?\$?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)/g;
