import { A2AError } from "../../protocol/index.ts";

/**
 * Evaluates an arithmetic expression without executing code. The expression can contain decimal numbers, the
 * operators `+ - * /`, and parentheses. Throws INVALID_PARAMS if the expression contains any other character,
 * has more than 1,000 characters, or nests parentheses more than 50 levels deep.
 */
export function evaluateArithmetic(expression: string): number {
  if (expression.length > MAX_EXPRESSION_LENGTH)
    throw createArithmeticError(
      `the expression has ${expression.length} characters, the maximum is ${MAX_EXPRESSION_LENGTH}`,
    );
  const parser = new ArithmeticParser(expression);
  const value = parser.parseSum(0);
  parser.requireEnd();
  if (!Number.isFinite(value))
    throw createArithmeticError(`${JSON.stringify(expression)} divides by 0 or is too large`);
  return value;
}

/** Formats a number without exponents and without rounding artifacts such as `0.30000000000000004`. */
export function formatNumberWithoutExponent(value: number): string {
  const rounded = Number(value.toPrecision(12));
  return rounded
    .toLocaleString("en-US", { useGrouping: false, maximumFractionDigits: 12 })
    .replace(/^-0$/, "0");
}

const MAX_EXPRESSION_LENGTH = 1_000;
const MAX_PARENTHESIS_DEPTH = 50;

class ArithmeticParser {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parseSum(depth: number): number {
    let value = this.#parseProduct(depth);
    for (;;) {
      if (this.#consume("+")) value += this.#parseProduct(depth);
      else if (this.#consume("-")) value -= this.#parseProduct(depth);
      else return value;
    }
  }

  requireEnd(): void {
    if (this.#peek() !== undefined) throw this.#createUnexpectedError();
  }

  #parseProduct(depth: number): number {
    let value = this.#parseFactor(depth);
    for (;;) {
      if (this.#consume("*")) value *= this.#parseFactor(depth);
      else if (this.#consume("/")) value /= this.#parseFactor(depth);
      else return value;
    }
  }

  #parseFactor(depth: number): number {
    let sign = 1;
    for (;;) {
      if (this.#consume("-")) sign = -sign;
      else if (!this.#consume("+")) break;
    }
    if (!this.#consume("(")) return sign * this.#parseNumber();
    if (depth === MAX_PARENTHESIS_DEPTH)
      throw createArithmeticError(`more than ${MAX_PARENTHESIS_DEPTH} nested parentheses`);
    const value = this.parseSum(depth + 1);
    if (!this.#consume(")")) throw this.#createUnexpectedError();
    return sign * value;
  }

  #parseNumber(): number {
    this.#peek();
    const digits = /^(?:\d+\.?\d*|\.\d+)/.exec(this.#text.slice(this.#position));
    if (!digits) throw this.#createUnexpectedError();
    this.#position += digits[0].length;
    return Number(digits[0]);
  }

  #consume(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#position += 1;
    return true;
  }

  #peek(): string | undefined {
    while (this.#text[this.#position] === " ") this.#position += 1;
    return this.#text[this.#position];
  }

  #createUnexpectedError(): A2AError {
    const what = this.#peek();
    return createArithmeticError(
      `${JSON.stringify(this.#text)} ${what === undefined ? "ends too early" : `has ${JSON.stringify(what)} at ${this.#position + 1}`}`,
    );
  }
}

function createArithmeticError(what: string): A2AError {
  return new A2AError(
    "INVALID_PARAMS",
    `Invalid arithmetic expression: ${what}. Use numbers, + - * /, and parentheses.`,
  );
}
