import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../protocol/index.ts";
import { assertCalls, type CallOrder, type ExpectedCall, type ToolCall } from "./index.ts";

const tool = (name: string, input?: JsonObject): ToolCall => ({
  tool: name,
  ...(input ? { arguments: input } : {}),
});

const turn = {
  toolCalls: [
    tool("find", { id: 1, tags: ["a", "b"] }),
    tool("find", { id: 2 }),
    tool("send", { to: { name: "Ada", city: "London" } }),
  ],
};

const passes = (expected: ExpectedCall[], order: CallOrder): boolean => {
  try {
    assertCalls(turn, expected, order);
    return true;
  } catch {
    return false;
  }
};

const find1 = { tool: "find", arguments: { id: 1 } };
const find2 = { tool: "find", arguments: { id: 2 } };

describe("the expected calls", () => {
  it.each<[ExpectedCall[], exact: boolean, inOrder: boolean, anyOrder: boolean]>([
    [["find", "find", "send"], true, true, true],
    [["find", "send"], false, true, true],
    [["send", "find"], false, false, true],
    [["find", "find", "find"], false, false, false],
    [[], false, true, true],
    [[find1, find2, "send"], true, true, true],
    [[find2, find1], false, false, true],
    // Each call satisfies one expectation only.
    [[find1, find1], false, false, false],
    // The first expectation must leave the call that only the second one accepts.
    [["find", find1], false, false, true],
    [[{ tool: "send", arguments: { to: { city: "London" } } }], false, true, true],
    [[{ tool: "find", arguments: { tags: ["a", "b"] } }], false, true, true],
    [[{ tool: "find", arguments: { tags: ["a"] } }], false, false, false],
    [[{ tool: "send", error: "refused" }], false, false, false],
  ])("%j", (expected, exact, inOrder, anyOrder) => {
    expect([passes(expected, "exact"), passes(expected, "in-order"), passes(expected, "any-order")]).toEqual([
      exact,
      inOrder,
      anyOrder,
    ]);
  });

  it("are compared with many equal calls in a moment", () => {
    const toolCalls = Array.from({ length: 99 }, () => tool("find"));
    const expected = Array.from({ length: 100 }, () => "find");
    expect(() => assertCalls({ toolCalls }, expected, "any-order")).toThrow(
      "The tool calls differ (any-order)",
    );
    expect(() => assertCalls({ toolCalls }, expected.slice(1), "any-order")).not.toThrow();
  });

  it("are in the error together with the actual calls", () => {
    expect(() => assertCalls(turn, ["send"])).toThrow(
      `The tool calls differ (exact).
  expected: send
  actual:   find({"id":1,"tags":["a","b"]}), find({"id":2}), send({"to":{"name":"Ada","city":"London"}})`,
    );
    expect(() => assertCalls({ toolCalls: [] }, ["send"])).toThrow("actual:   none");
  });
});
