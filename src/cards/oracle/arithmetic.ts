import { A2AError } from "../../protocol/index.ts";

/**
 * The value of an expression of decimal numbers, `+ - * /` and parentheses. Reads, and runs nothing: whatever else the
 * text has is refused with its place, as are texts above 1,000 characters and parentheses deeper than 50.
 */
export function evaluate(expression: string): number {
  if (expression.length > MOST_CHARACTERS)
    throw refused(`an expression of ${expression.length} characters; ${MOST_CHARACTERS} are read`);
  const reader = new Reader(expression);
  const value = reader.sum(0);
  reader.end();
  if (!Number.isFinite(value)) throw refused(`${JSON.stringify(expression)} divides by 0 or is too large`);
  return value;
}

/** A value as people write it: no `0.30000000000000004`, no exponents. */
export function writeNumber(value: number): string {
  const rounded = Number(value.toPrecision(12));
  return rounded
    .toLocaleString("en-US", { useGrouping: false, maximumFractionDigits: 12 })
    .replace(/^-0$/, "0");
}

const MOST_CHARACTERS = 1_000;
const DEEPEST = 50;

/** A reader by descent: a sum of products of numbers, signs and parentheses. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  sum(depth: number): number {
    let value = this.#product(depth);
    for (;;) {
      if (this.#take("+")) value += this.#product(depth);
      else if (this.#take("-")) value -= this.#product(depth);
      else return value;
    }
  }

  end(): void {
    if (this.#next() !== undefined) throw this.#unexpected();
  }

  #product(depth: number): number {
    let value = this.#factor(depth);
    for (;;) {
      if (this.#take("*")) value *= this.#factor(depth);
      else if (this.#take("/")) value /= this.#factor(depth);
      else return value;
    }
  }

  #factor(depth: number): number {
    let sign = 1;
    for (;;) {
      if (this.#take("-")) sign = -sign;
      else if (!this.#take("+")) break;
    }
    if (!this.#take("(")) return sign * this.#number();
    if (depth === DEEPEST) throw refused(`parentheses deeper than ${DEEPEST}`);
    const value = this.sum(depth + 1);
    if (!this.#take(")")) throw this.#unexpected();
    return sign * value;
  }

  #number(): number {
    this.#next();
    const digits = /^(?:\d+\.?\d*|\.\d+)/.exec(this.#text.slice(this.#at));
    if (!digits) throw this.#unexpected();
    this.#at += digits[0].length;
    return Number(digits[0]);
  }

  #take(character: string): boolean {
    if (this.#next() !== character) return false;
    this.#at += 1;
    return true;
  }

  /** The next character that is no space. */
  #next(): string | undefined {
    while (this.#text[this.#at] === " ") this.#at += 1;
    return this.#text[this.#at];
  }

  #unexpected(): A2AError {
    const what = this.#next();
    return refused(
      `${JSON.stringify(this.#text)} ${what === undefined ? "ends too early" : `has ${JSON.stringify(what)} at ${this.#at + 1}`}`,
    );
  }
}

function refused(what: string): A2AError {
  return new A2AError("INVALID_PARAMS", `No arithmetic: ${what}. Write numbers, + - * / and parentheses.`);
}
