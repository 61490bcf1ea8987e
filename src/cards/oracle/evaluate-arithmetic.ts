import { A2AError } from "../../protocol/index.ts";

/** Longer expressions could nest too deeply for the call stack. */
const MAX_EXPRESSION_LENGTH = 1_000;

/**
 * Evaluates an arithmetic expression without executing code. The expression can contain decimal numbers, the
 * operators `+ - * /`, and parentheses. Throws INVALID_PARAMS if the expression contains any other character,
 * has more than 1,000 characters, or has no finite value.
 */
export function evaluateArithmetic(expression: string): number {
  const tokens = expression.slice(0, MAX_EXPRESSION_LENGTH + 1).match(/\d+\.?\d*|\.\d+|\S/g) ?? [];
  let at = 0;
  const parseFactor = (): number => {
    const token = tokens[at++] ?? "";
    if (token === "-") return -parseFactor();
    if (token === "+") return parseFactor();
    if (token !== "(") return /\d/.test(token) ? Number(token) : Number.NaN;
    const value = parseSum();
    return tokens[at++] === ")" ? value : Number.NaN;
  };
  const parseProduct = (): number => {
    let value = parseFactor();
    for (; tokens[at] === "*" || tokens[at] === "/";)
      value = tokens[at++] === "*" ? value * parseFactor() : value / parseFactor();
    return value;
  };
  const parseSum = (): number => {
    let value = parseProduct();
    for (; tokens[at] === "+" || tokens[at] === "-";)
      value = tokens[at++] === "+" ? value + parseProduct() : value - parseProduct();
    return value;
  };
  const value = expression.length > MAX_EXPRESSION_LENGTH ? Number.NaN : parseSum();
  if (at === tokens.length && Number.isFinite(value)) return value;
  throw new A2AError(
    "INVALID_PARAMS",
    `${JSON.stringify(expression.slice(0, 80))} is no arithmetic expression with a finite value. Use numbers, + - * /, and parentheses.`,
  );
}

/** Formats a number without exponents and without rounding artifacts such as `0.30000000000000004`. */
export function formatNumberWithoutExponent(value: number): string {
  const rounded = Number(value.toPrecision(12));
  return rounded
    .toLocaleString("en-US", { useGrouping: false, maximumFractionDigits: 12 })
    .replace(/^-0$/, "0");
}
