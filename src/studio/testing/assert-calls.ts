import { isObject } from "../../protocol/index.ts";
import type { ConversationTurn } from "./conversation-turn.ts";
import type { ToolCall } from "./tool-calls.ts";

/** A tool call: the name of the tool, or some members of the call. Only the given members are compared. */
export type ExpectedCall = string | ToolCall;

/**
 * - `exact`: the expected calls, in this order, and no other tool calls
 * - `in-order`: the expected calls in this order, between which other tool calls may occur
 * - `any-order`: each expected call, in any order, and possibly other tool calls
 */
export type CallOrder = "exact" | "in-order" | "any-order";

/**
 * Throws an error with both lists if the tool calls of a turn differ from the expected calls. Each call satisfies at
 * most one expectation.
 */
export function assertCalls(
  { toolCalls }: Pick<ConversationTurn, "toolCalls">,
  expected: readonly ExpectedCall[],
  order: CallOrder = "exact",
): void {
  if (!toolCalls)
    throw new Error(
      "The calls of this agent behind a URL are unknown; pass the agent itself to converse(…).",
    );
  if (isExpectedOrder(toolCalls, expected, order, matches)) return;
  throw new Error(
    `The tool calls differ (${order}).\n  expected: ${renderList(expected.map(renderExpected))}\n  actual:   ${renderList(toolCalls.map(renderCall))}`,
  );
}

/** Returns true if calls satisfy expectations in an order. Each call satisfies at most one expectation. */
export function isExpectedOrder<Call, Expected>(
  calls: readonly Call[],
  expected: readonly Expected[],
  order: CallOrder,
  isExpected: (call: Call, expected: Expected) => boolean,
): boolean {
  if (order === "exact")
    return (
      calls.length === expected.length && expected.every((one, at) => isExpected(calls[at] as Call, one))
    );
  if (order === "any-order") return canAssign(calls, expected, isExpected);
  let next = 0;
  for (const call of calls)
    if (next < expected.length && isExpected(call, expected[next] as Expected)) next++;
  return next === expected.length;
}

/**
 * Returns true if each expectation matches a call that no other expectation uses. An expectation takes the call of an
 * earlier one if that one can move to another call, so that the time is at most cubic.
 */
function canAssign<Call, Expected>(
  calls: readonly Call[],
  expected: readonly Expected[],
  isExpected: (call: Call, expected: Expected) => boolean,
): boolean {
  const users = new Map<Call, Expected>();
  const assign = (one: Expected, tried: Set<Call>): boolean =>
    calls.some((call) => {
      if (tried.has(call) || !isExpected(call, one)) return false;
      tried.add(call);
      const user = users.get(call);
      if (user !== undefined && !assign(user, tried)) return false;
      users.set(call, one);
      return true;
    });
  return expected.every((one) => assign(one, new Set()));
}

function matches(call: ToolCall, expected: ExpectedCall): boolean {
  if (typeof expected === "string") return call.tool === expected;
  return Object.entries(expected).every(([name, value]) =>
    isPartOf(value, call[name as keyof typeof expected]),
  );
}

/** Returns true if `actual` has all members of `expected`, at every depth. Lists must have the same length. */
function isPartOf(expected: unknown, actual: unknown): boolean {
  if (Array.isArray(expected))
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((item, at) => isPartOf(item, actual[at]))
    );
  if (!isObject(expected)) return Object.is(expected, actual);
  return isObject(actual) && Object.entries(expected).every(([name, value]) => isPartOf(value, actual[name]));
}

function renderList(calls: readonly string[]): string {
  return calls.length === 0 ? "none" : calls.join(", ");
}

function renderExpected(expected: ExpectedCall): string {
  return typeof expected === "string" ? expected : renderCall(expected);
}

function renderCall({ tool, arguments: input }: Exclude<ExpectedCall, string>): string {
  return input === undefined ? tool : `${tool}(${JSON.stringify(input)})`;
}
