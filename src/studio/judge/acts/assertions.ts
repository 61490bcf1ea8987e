import type { CollectionMatch, ExpectedStream, NamedAssertion } from "./corpus.ts";
import { getMember, MISSING, readAllPaths, readPath } from "./expressions.ts";

/** An assertion that does not hold. */
export interface Mismatch {
  /** Path of the value in the response. */
  readonly path: string;
  readonly message: string;
}

type Operator = {
  /** Whether a value can be an argument of the operator. Otherwise the key is the name of a member. */
  readonly takes: (argument: unknown) => boolean;
  readonly holds: (argument: never, actual: unknown) => boolean;
};

const isString = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number";
const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isTrue = (value: unknown): boolean => value === true;
const isNonEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: isString,
  number: isNumber,
  boolean: (value) => typeof value === "boolean",
  array: Array.isArray,
  object: isMap,
  null: (value) => value === null,
};

const compare = (holds: (actual: number, limit: number) => boolean): Operator => ({
  takes: isNumber,
  holds: (limit: number, actual) => isNumber(actual) && holds(actual, limit),
});
const compareText = (holds: (actual: string, argument: string) => boolean): Operator => ({
  takes: isString,
  holds: (argument: string, actual) => isString(actual) && holds(actual, argument),
});
const compareLength = (holds: (length: number, argument: number) => boolean): Operator => ({
  takes: isNumber,
  holds: (argument: number, actual) => Array.isArray(actual) && holds(actual.length, argument),
});

/** The operators of ACTS §5.1 that compare one value. */
const OPERATORS: Readonly<Record<string, Operator>> = {
  type: {
    takes: (argument) => isString(argument) && Object.hasOwn(TYPES, argument),
    holds: (name: string, actual) => TYPES[name]?.(actual) === true,
  },
  exists: { takes: isTrue, holds: (_argument, actual) => actual !== MISSING },
  absent: { takes: isTrue, holds: (_argument, actual) => actual === MISSING },
  contains: compareText((actual, part) => actual.includes(part)),
  matches: compareText((actual, pattern) => new RegExp(pattern, "u").test(actual)),
  starts_with: compareText((actual, start) => actual.startsWith(start)),
  ends_with: compareText((actual, end) => actual.endsWith(end)),
  gte: compare((actual, limit) => actual >= limit),
  lte: compare((actual, limit) => actual <= limit),
  gt: compare((actual, limit) => actual > limit),
  lt: compare((actual, limit) => actual < limit),
  count: compareLength((length, count) => length === count),
  count_gte: compareLength((length, count) => length >= count),
  count_lte: compareLength((length, count) => length <= count),
  // The specification lists plain values, and its own example in §7 lists assertions.
  one_of: {
    takes: isNonEmptyList,
    holds: (options: unknown[], actual) => options.some((option) => check(option, actual, "").length === 0),
  },
};

/**
 * Operators that contain assertions. The specification does not define `items`, but the official suites use it, as in
 * JSON Schema: a map applies to each element, and a list applies by position.
 */
const COMBINATORS: Readonly<Record<string, (argument: unknown) => boolean>> = {
  all_of: isNonEmptyList,
  any_of: isNonEmptyList,
  not: () => true,
  items: (argument) => Array.isArray(argument) || isMap(argument),
};

/** Returns whether a key of an assertion is an operator. A member of a response can have the name of an operator. */
export function isOperator(key: string, argument: unknown): boolean {
  const takes = Object.hasOwn(OPERATORS, key) ? OPERATORS[key]?.takes : COMBINATORS[key];
  return takes?.(argument) === true;
}

/**
 * Compares a value with an assertion (ACTS §5), and returns everything that does not hold. A map contains operators,
 * names of members, or both. A list applies to the elements at the same positions. Any other assertion is an exact
 * value.
 */
export function check(assertion: unknown, actual: unknown, path: string): readonly Mismatch[] {
  if (Array.isArray(assertion)) return checkPositions(assertion, actual, path);
  if (!isMap(assertion)) {
    if (actual === assertion) return [];
    return [{ path, message: `is ${describe(actual)} instead of ${describe(assertion)}` }];
  }
  return Object.entries(assertion).flatMap(([key, argument]) =>
    isOperator(key, argument)
      ? applyOperator(key, argument, actual, path)
      : check(argument, getMember(actual, key), path === "" ? key : `${path}.${key}`),
  );
}

function checkPositions(assertions: unknown[], actual: unknown, path: string): readonly Mismatch[] {
  if (!Array.isArray(actual)) return [{ path, message: `is ${describe(actual)} instead of an array` }];
  return assertions.flatMap((assertion, at) =>
    at < actual.length
      ? check(assertion, actual[at], `${path}[${at}]`)
      : [{ path: `${path}[${at}]`, message: "is missing" }],
  );
}

function applyOperator(key: string, argument: unknown, actual: unknown, path: string): readonly Mismatch[] {
  switch (key) {
    case "all_of":
      return (argument as unknown[]).flatMap((assertion) => check(assertion, actual, path));
    case "any_of": {
      const attempts = (argument as unknown[]).map((assertion) => check(assertion, actual, path));
      if (attempts.some((mismatches) => mismatches.length === 0)) return [];
      return [{ path, message: `is ${describe(actual)}, which matches none of ${describe(argument)}` }];
    }
    case "not":
      if (check(argument, actual, path).length > 0) return [];
      return [{ path, message: `is ${describe(actual)}, which matches ${describe(argument)}` }];
    case "items":
      if (Array.isArray(argument)) return checkPositions(argument, actual, path);
      if (!Array.isArray(actual)) return [{ path, message: `is ${describe(actual)} instead of an array` }];
      return actual.flatMap((element, at) => check(argument, element, `${path}[${at}]`));
    default: {
      if (OPERATORS[key]?.holds(argument as never, actual)) return [];
      return [{ path, message: `is ${describe(actual)} instead of ${key} ${describe(argument)}` }];
    }
  }
}

/** Compares headers, whose names are not case-sensitive. */
export function checkHeaders(
  assertion: unknown,
  headers: Readonly<Record<string, string>>,
): readonly Mismatch[] {
  return check(lowerCaseMembers(assertion), headers, "headers");
}

function lowerCaseMembers(assertion: unknown): unknown {
  if (Array.isArray(assertion)) return assertion.map(lowerCaseMembers);
  if (!isMap(assertion)) return assertion;
  return Object.fromEntries(
    Object.entries(assertion).map(([key, argument]) => [
      isOperator(key, argument) ? key : key.toLowerCase(),
      lowerCaseMembers(argument),
    ]),
  );
}

/** Evaluates a named assertion (ACTS §5.5) against the value that its `source` refers to. */
export function checkNamed(assertion: NamedAssertion, source: unknown): readonly Mismatch[] {
  const value = assertion.path === undefined ? source : readPath(source, assertion.path);
  const { any, all, none } = assertion;
  if (any) return checkCollection("any", any, value);
  if (all) return checkCollection("all", all, value);
  if (none) return checkCollection("none", none, value);
  return check(assertion.match, value, assertion.path ?? "");
}

/** `any` and `all` of no elements do not hold, because an assertion that inspects nothing proves nothing. */
function checkCollection(
  mode: "any" | "all" | "none",
  rule: CollectionMatch,
  source: unknown,
): readonly Mismatch[] {
  const { path, match } = rule;
  const results = readAllPaths(source, path).map((element) => check(match, element, path));
  const matching = results.filter((mismatches) => mismatches.length === 0).length;
  const holds = {
    any: matching > 0,
    all: results.length > 0 && matching === results.length,
    none: matching === 0,
  };
  if (holds[mode]) return [];
  return [
    {
      path,
      message: `${matching} of ${results.length} elements match ${describe(match)} instead of ${mode}`,
    },
  ];
}

const EVENT_KINDS: Readonly<Record<string, string>> = {
  task: "task",
  message: "message",
  statusUpdate: "status_update",
  artifactUpdate: "artifact_update",
};

/**
 * Returns what assertions see of a streamed event: the members of its payload, and the payload under the name of its
 * kind. The official suites write both `status: …` and `status_update: {status: …}`. An event in an envelope, as of a
 * raw step, stays unchanged.
 */
export function viewEvent(event: unknown): unknown {
  const [key, ...more] = isMap(event) ? Object.keys(event) : [];
  const kind = key !== undefined && more.length === 0 ? EVENT_KINDS[key] : undefined;
  const payload = kind === undefined ? undefined : getMember(event, key ?? "");
  return kind !== undefined && isMap(payload) ? { ...payload, [kind]: payload } : event;
}

const TERMINAL_STATES = /^TASK_STATE_(COMPLETED|FAILED|CANCELED|REJECTED)$/;

export function isTerminalState(state: unknown): boolean {
  return isString(state) && TERMINAL_STATES.test(state);
}

/** Evaluates the assertions on a complete stream (ACTS §7). */
export function checkStream(expected: ExpectedStream, events: readonly unknown[]): readonly Mismatch[] {
  const views = events.map(viewEvent);
  const { min_count: minimum = 0, max_count: maximum = Number.POSITIVE_INFINITY } = expected;
  const mismatches: Mismatch[] = [];
  if (events.length < minimum || events.length > maximum)
    mismatches.push({
      path: "stream",
      message: `has ${events.length} events instead of ${minimum} to ${maximum}`,
    });
  if (expected.ordering !== undefined) mismatches.push(...checkStateOrder(views));
  for (const [at, assertion] of (expected.events ?? []).entries())
    mismatches.push(...checkEvent(assertion, at, views));
  if (expected.final_event !== undefined)
    mismatches.push(...check(expected.final_event, views.at(-1) ?? MISSING, "final_event"));
  if (expected.each_event !== undefined) {
    if (views.length === 0) mismatches.push({ path: "each_event", message: "is never received" });
    for (const [at, view] of views.entries())
      mismatches.push(...check(expected.each_event, view, `events[${at}]`));
  }
  return mismatches;
}

function checkEvent(
  assertion: Readonly<Record<string, unknown>>,
  at: number,
  views: readonly unknown[],
): readonly Mismatch[] {
  const { description, match, index = at, ...body } = assertion;
  const path = `events[${String(index)}]`;
  if (match !== "any_position") return check(body, views[Number(index)] ?? MISSING, path);
  if (views.some((view) => check(body, view, "").length === 0)) return [];
  const wanted = isString(description) ? description : describe(body);
  return [{ path: "events", message: `has no event among ${views.length} for ${JSON.stringify(wanted)}` }];
}

/** Rejects the transitions that ACTS §7.1 forbids: back to SUBMITTED, and any transition of a finished task. */
function checkStateOrder(views: readonly unknown[]): readonly Mismatch[] {
  const states = views.map((view) => readPath(view, "status.state")).filter(isString);
  return states.slice(1).flatMap((state, at) => {
    const previous = states[at];
    const isForbidden = state === "TASK_STATE_SUBMITTED" || isTerminalState(previous);
    if (state === previous || !isForbidden) return [];
    return [{ path: "status.state", message: `changes from ${previous} to ${state}` }];
  });
}

/** Formats a value for a message, on one line and with a limited length. */
export function describe(value: unknown): string {
  if (value === MISSING || value === undefined) return "missing";
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
