/** The value of a path that leads to nothing. `null` is a value, so it is not the same. */
export const MISSING: unique symbol = Symbol("missing");

/** A path, a template, or a condition of a test that cannot be evaluated. The test is at fault, not the server. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
}

/** Segment of a path that stands for all elements of an array. */
const WILDCARD: unique symbol = Symbol("wildcard");

type Segment = string | number | typeof WILDCARD;

/** Splits a path such as `task.artifacts[0].parts[*]`. */
export function parsePath(path: string): readonly Segment[] {
  if (path === "") return [];
  const tokens = path.match(/[^.[\]]+|\[(?:\*|\d+)\]|\./g) ?? [];
  if (tokens.join("") !== path) throw new ExpressionError(`Cannot parse the path ${JSON.stringify(path)}.`);
  return tokens
    .filter((token) => token !== ".")
    .map((token) => {
      if (!token.startsWith("[")) return token;
      return token === "[*]" ? WILDCARD : Number(token.slice(1, -1));
    });
}

/** Returns the member or element of a value, or `MISSING`. */
export function getMember(value: unknown, key: string | number): unknown {
  if (typeof key === "number") return Array.isArray(value) && key < value.length ? value[key] : MISSING;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return MISSING;
  return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : MISSING;
}

/** Reads a path without wildcards. */
export function readPath(value: unknown, path: string): unknown {
  const segments = parsePath(path);
  return segments.reduce<unknown>((parent, segment) => {
    if (segment === WILDCARD) throw new ExpressionError(`The path ${path} must not contain a wildcard.`);
    return getMember(parent, segment);
  }, value);
}

/** Returns all values that a path with wildcards leads to. Branches that lead to nothing are left out. */
export function readAllPaths(value: unknown, path: string): readonly unknown[] {
  return parsePath(path).reduce<readonly unknown[]>(
    (values, segment) =>
      values.flatMap((value): readonly unknown[] => {
        if (segment === WILDCARD) return Array.isArray(value) ? (value as unknown[]) : [];
        const member = getMember(value, segment);
        return member === MISSING ? [] : [member];
      }),
    [value],
  );
}

/** The variables of one test: captures by step, variables by name, and the generators of the runner. */
export interface Scope {
  readonly captures: Map<string, Map<string, unknown>>;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly createUuid: () => string;
}

/**
 * Replaces the references `{{…}}` in all texts of a value. A text that consists of one reference becomes the referenced
 * value with its type. Keys stay unchanged, because they name members of a response.
 */
export function substitute(value: unknown, scope: Scope): unknown {
  if (typeof value === "string") {
    const whole = /^\{\{([^{}]+)\}\}$/.exec(value);
    if (whole) return resolveReference((whole[1] ?? "").trim(), scope);
    return value.replaceAll(/\{\{([^{}]+)\}\}/g, (_reference, name: string) =>
      String(resolveReference(name.trim(), scope)),
    );
  }
  if (Array.isArray(value)) return value.map((element) => substitute(element, scope));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, substitute(member, scope)]));
}

/** Resolves a reference in the order of ACTS §12.2: captures, variables, environment, generators. */
function resolveReference(name: string, scope: Scope): unknown {
  const [step = "", ...rest] = name.split(".");
  const captured = scope.captures.get(step)?.get(rest.join("."));
  if (captured !== undefined) return captured;
  if (Object.hasOwn(scope.variables, name)) return scope.variables[name];
  if (step === "env" && scope.environment[rest.join(".")] !== undefined)
    return scope.environment[rest.join(".")];
  if (name === "$uuid") return scope.createUuid();
  throw new ExpressionError(`The variable {{${name}}} is not defined.`);
}

/** Stores a value under `{{step.name}}`. */
export function storeCapture(scope: Scope, step: string, name: string, value: unknown): void {
  const captures = scope.captures.get(step) ?? new Map<string, unknown>();
  scope.captures.set(step, captures.set(name, value));
}

/** Evaluates the condition of a repeated step (ACTS §9.1). A path that leads to nothing fulfills no condition. */
export function evaluateCondition(condition: string, response: unknown): boolean {
  const list = /^\s*(\S+)\s+in\s+\[(.*)\]\s*$/.exec(condition);
  if (list) {
    const actual = readPath(response, list[1] ?? "");
    return (list[2] ?? "").split(",").some((literal) => actual === parseLiteral(literal));
  }
  const comparison = /^([^=!]+)(==|!=)(.+)$/.exec(condition);
  if (!comparison) throw new ExpressionError(`Cannot parse the condition ${JSON.stringify(condition)}.`);
  const [, path = "", operator, literal = ""] = comparison;
  const actual = readPath(response, path.trim());
  return actual !== MISSING && (actual === parseLiteral(literal)) === (operator === "==");
}

function parseLiteral(literal: string): unknown {
  const text = literal.trim();
  const quoted = /^(["'])(.*)\1$/.exec(text);
  if (quoted) return quoted[2];
  if (/^(true|false|null|-?\d+(\.\d+)?)$/.test(text)) return JSON.parse(text) as unknown;
  return text;
}
