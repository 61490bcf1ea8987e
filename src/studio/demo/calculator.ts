const MATH_FUNCTIONS: Record<string, (x: number) => number> = {
  abs: Math.abs,
  ceil: Math.ceil,
  cos: Math.cos,
  exp: Math.exp,
  floor: Math.floor,
  ln: Math.log,
  log: Math.log10,
  round: Math.round,
  sin: Math.sin,
  sqrt: Math.sqrt,
  tan: Math.tan,
};

const MATH_CONSTANTS: Record<string, number> = { e: Math.E, pi: Math.PI };

/**
 * Returns the value of an arithmetic expression. The expression may contain `+ - * / % ^`, parentheses,
 * several functions, `pi`, and `e`, with the usual precedence. If the expression is invalid, throws an error
 * with the position of the mistake.
 */
export function evaluateExpression(expression: string): number {
  const parser = new ExpressionParser(expression);
  const value = parser.parseSum();
  parser.expectEnd();
  if (!Number.isFinite(value)) throw new RangeError(`${expression} has no finite value.`);
  // Rounds away errors of binary fractions, such as in 0.1 + 0.2.
  return Number(value.toPrecision(14));
}

class ExpressionParser {
  readonly #tokens: string[];
  readonly #expression: string;
  #position = 0;

  constructor(expression: string) {
    this.#expression = expression;
    const plain = expression
      .replaceAll("×", "*")
      .replaceAll("÷", "/")
      .replaceAll("−", "-")
      .replaceAll("**", "^");
    this.#tokens = plain.match(/\d+(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+|[a-z]+|\S/gi) ?? [];
  }

  parseSum(): number {
    let value = this.#parseProduct();
    for (let sign = this.#acceptToken("+", "-"); sign; sign = this.#acceptToken("+", "-")) {
      const next = this.#parseProduct();
      value = sign === "+" ? value + next : value - next;
    }
    return value;
  }

  expectEnd(): void {
    if (this.#position < this.#tokens.length) this.#throwSyntaxError();
  }

  #parseProduct(): number {
    let value = this.#parseSigned();
    for (let sign = this.#acceptToken("*", "/", "%"); sign; sign = this.#acceptToken("*", "/", "%")) {
      const next = this.#parseSigned();
      if (next === 0 && sign !== "*") throw new RangeError("Division by zero.");
      value = sign === "*" ? value * next : sign === "/" ? value / next : value % next;
    }
    return value;
  }

  #parseSigned(): number {
    if (this.#acceptToken("-")) return -this.#parseSigned();
    if (this.#acceptToken("+")) return this.#parseSigned();
    return this.#parsePower();
  }

  #parsePower(): number {
    const base = this.#parseAtom();
    // Powers are right-associative: 2^3^2 is 2^9. The exponent may have a sign.
    return this.#acceptToken("^") ? base ** this.#parseSigned() : base;
  }

  #parseAtom(): number {
    if (this.#acceptToken("(")) return this.#parseParenthesized();
    const token = this.#tokens[this.#position++]?.toLowerCase();
    if (token !== undefined && /^[.\d]/.test(token)) return Number(token);
    if (token !== undefined && Object.hasOwn(MATH_CONSTANTS, token)) return MATH_CONSTANTS[token] as number;
    if (token !== undefined && Object.hasOwn(MATH_FUNCTIONS, token) && this.#acceptToken("(")) {
      return (MATH_FUNCTIONS[token] as (x: number) => number)(this.#parseParenthesized());
    }
    this.#position--;
    return this.#throwSyntaxError();
  }

  #parseParenthesized(): number {
    const value = this.parseSum();
    if (!this.#acceptToken(")")) this.#throwSyntaxError();
    return value;
  }

  #acceptToken(...wanted: string[]): string | undefined {
    const token = this.#tokens[this.#position];
    if (token === undefined || !wanted.includes(token)) return undefined;
    this.#position++;
    return token;
  }

  #throwSyntaxError(): never {
    const token = this.#tokens[this.#position];
    const problem = token === undefined ? "it ends too early" : `unexpected “${token}”`;
    throw new SyntaxError(`${this.#expression} is not a valid expression: ${problem}.`);
  }
}
