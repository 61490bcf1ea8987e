const FUNCTIONS: Record<string, (x: number) => number> = {
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

const CONSTANTS: Record<string, number> = { e: Math.E, pi: Math.PI };

/**
 * The value of an arithmetic expression: `+ - * / % ^`, parentheses, a few functions, `pi` and `e`, with the usual
 * precedence. Throws an error that says what is wrong and where.
 */
export function evaluate(expression: string): number {
  const parser = new Parser(expression);
  const value = parser.sum();
  parser.expectEnd();
  if (!Number.isFinite(value)) throw new RangeError(`${expression} has no finite value.`);
  // What binary fractions leave behind (0.1 + 0.2) is not what anybody asked for.
  return Number(value.toPrecision(14));
}

class Parser {
  readonly #tokens: string[];
  readonly #expression: string;
  #at = 0;

  constructor(expression: string) {
    this.#expression = expression;
    const plain = expression
      .replaceAll("×", "*")
      .replaceAll("÷", "/")
      .replaceAll("−", "-")
      .replaceAll("**", "^");
    this.#tokens = plain.match(/\d+(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+|[a-z]+|\S/gi) ?? [];
  }

  sum(): number {
    let value = this.#product();
    for (let sign = this.#take("+", "-"); sign; sign = this.#take("+", "-")) {
      const next = this.#product();
      value = sign === "+" ? value + next : value - next;
    }
    return value;
  }

  expectEnd(): void {
    if (this.#at < this.#tokens.length) this.#fail();
  }

  #product(): number {
    let value = this.#signed();
    for (let sign = this.#take("*", "/", "%"); sign; sign = this.#take("*", "/", "%")) {
      const next = this.#signed();
      if (next === 0 && sign !== "*") throw new RangeError("Division by zero.");
      value = sign === "*" ? value * next : sign === "/" ? value / next : value % next;
    }
    return value;
  }

  #signed(): number {
    if (this.#take("-")) return -this.#signed();
    if (this.#take("+")) return this.#signed();
    return this.#power();
  }

  #power(): number {
    const base = this.#atom();
    // From the right: 2^3^2 is 2^9; the exponent may have a sign of its own.
    return this.#take("^") ? base ** this.#signed() : base;
  }

  #atom(): number {
    if (this.#take("(")) return this.#closed();
    const token = this.#tokens[this.#at++]?.toLowerCase();
    if (token !== undefined && /^[.\d]/.test(token)) return Number(token);
    if (token !== undefined && Object.hasOwn(CONSTANTS, token)) return CONSTANTS[token] as number;
    if (token !== undefined && Object.hasOwn(FUNCTIONS, token) && this.#take("(")) {
      return (FUNCTIONS[token] as (x: number) => number)(this.#closed());
    }
    this.#at--;
    return this.#fail();
  }

  #closed(): number {
    const value = this.sum();
    if (!this.#take(")")) this.#fail();
    return value;
  }

  #take(...wanted: string[]): string | undefined {
    const token = this.#tokens[this.#at];
    if (token === undefined || !wanted.includes(token)) return undefined;
    this.#at++;
    return token;
  }

  #fail(): never {
    const token = this.#tokens[this.#at];
    const where = token === undefined ? "it ends too early" : `“${token}” was not expected there`;
    throw new SyntaxError(`${this.#expression} is not an expression: ${where}.`);
  }
}
