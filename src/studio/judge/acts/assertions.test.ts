import { describe, expect, it } from "vitest";
import { check, checkHeaders, checkNamed, checkStream, viewEvent } from "./assertions.ts";
import { MISSING } from "./expressions.ts";
import { checkShape } from "./shapes.ts";

const holds = (assertion: unknown, actual: unknown): boolean => check(assertion, actual, "").length === 0;

describe("assertions", () => {
  it.each<[assertion: unknown, matching: unknown, other: unknown]>([
    ["text", "text", "Text"],
    [1, 1, "1"],
    [true, true, 1],
    [null, null, MISSING],
    [{ type: "string" }, "", 1],
    [{ type: "number" }, 0, true],
    [{ type: "boolean" }, false, 0],
    [{ type: "array" }, [], {}],
    [{ type: "object" }, {}, []],
    [{ type: "null" }, null, MISSING],
    [{ exists: true }, null, MISSING],
    [{ absent: true }, MISSING, null],
    [{ contains: "b" }, "abc", ["b"]],
    [{ matches: "^a.c$" }, "abc", "abcd"],
    [{ starts_with: "a" }, "ab", "ba"],
    [{ ends_with: "a" }, "ba", "ab"],
    [{ gte: 200, lt: 300 }, 200, 300],
    [{ gt: 1, lte: 2 }, 2, 1],
    [{ count: 1 }, [1], "a"],
    [{ count_gte: 1 }, [1, 2], []],
    [{ count_lte: 1 }, [], [1, 2]],
    [{ one_of: [200, 401] }, 401, 403],
    [{ one_of: [{ task: { exists: true } }] }, { task: 1 }, { message: 1 }],
    [{ all_of: [{ type: "string" }, { contains: "a" }] }, "a", "b"],
    [{ any_of: [{ absent: true }, { count: 0 }] }, [], [1]],
    [{ not: { type: "string" } }, 1, "a"],
    [{ type: "array", items: { id: { exists: true } } }, [{ id: 1 }, { id: 2 }], [{ id: 1 }, {}]],
    [{ items: [{ id: 1 }] }, [{ id: 1 }, {}], [{ id: 2 }]],
    [[{ id: 1 }], [{ id: 1 }, { id: 2 }], []],
    [{ status: { state: "DONE" } }, { status: { state: "DONE" } }, { state: "DONE" }],
  ])("%j holds for %j, and not for %j", (assertion, matching, other) => {
    expect([holds(assertion, matching), holds(assertion, other)]).toEqual([true, false]);
  });

  it("read a key as a member if its argument does not fit the operator", () => {
    const problem = { type: "about:blank", count: "many" };
    expect(holds({ type: { type: "string" }, count: "many" }, problem)).toBe(true);
    expect(holds({ exists: false }, { exists: false })).toBe(true);
  });

  it("fail for members of a missing value, and do not find members of the prototype", () => {
    expect(check({ status: { state: { type: "string" } } }, {}, "task")).toEqual([
      { path: "task.status.state", message: `is missing instead of type "string"` },
    ]);
    expect(holds({ constructor: { exists: true } }, {})).toBe(false);
  });

  it("compare names of headers without regard to case, also below an operator", () => {
    const expected = { any_of: [{ "Cache-Control": { type: "string" } }, { ETag: { type: "string" } }] };
    expect(checkHeaders(expected, { etag: "x" })).toEqual([]);
    expect(checkHeaders(expected, { "content-type": "x" })).toHaveLength(1);
  });
});

describe("named assertions", () => {
  const source = { parts: [{ text: "a" }, { data: 1 }] };
  const match = { path: "parts[*]", match: { text: { type: "string" } } };

  it("apply to any, all, or no element", () => {
    expect(checkNamed({ source: "", any: match }, source)).toEqual([]);
    expect(checkNamed({ source: "", all: match }, source)).toHaveLength(1);
    expect(checkNamed({ source: "", none: match }, source)).toHaveLength(1);
    expect(checkNamed({ source: "", path: "parts[1]", match: { data: 1 } }, source)).toEqual([]);
  });

  it("do not hold if they inspect nothing, except for none", () => {
    const [any, all, none] = (["any", "all", "none"] as const).map(
      (mode) => checkNamed({ source: "", [mode]: match }, { parts: [] }).length,
    );
    expect([any, all, none]).toEqual([1, 1, 0]);
  });
});

describe("assertions on streams", () => {
  const status = (state: string): object => ({ statusUpdate: { status: { state: `TASK_STATE_${state}` } } });
  const artifact = { artifactUpdate: { artifact: { artifactId: "a" } } };

  it("see an event by its members and by its kind", () => {
    expect(holds({ status: { exists: true } }, viewEvent(status("WORKING")))).toBe(true);
    expect(holds({ status_update: { status: { exists: true } } }, viewEvent(status("WORKING")))).toBe(true);
    expect(holds({ message: { exists: true } }, viewEvent(status("WORKING")))).toBe(false);
    expect(viewEvent({ jsonrpc: "2.0", result: {} })).toEqual({ jsonrpc: "2.0", result: {} });
  });

  it("count events, and find them by position or anywhere", () => {
    const events = [status("WORKING"), artifact, status("COMPLETED")];
    const expected = {
      min_count: 3,
      max_count: 3,
      events: [
        { match: "any_position", artifact: { exists: true } },
        { index: 2, status: { exists: true } },
      ],
      final_event: { status: { state: "TASK_STATE_COMPLETED" } },
      each_event: { not: { message: { exists: true } } },
    };
    expect(checkStream(expected, events)).toEqual([]);
    expect(checkStream(expected, events.slice(0, 2)).map(({ path }) => path)).toEqual([
      "stream",
      "events[2].status",
      "final_event.status.state",
    ]);
    expect(checkStream({ each_event: { exists: true } }, [])).toHaveLength(1);
  });

  it.each([
    [["SUBMITTED", "WORKING", "WORKING", "COMPLETED"], 0],
    [["WORKING", "INPUT_REQUIRED", "WORKING"], 0],
    [["WORKING", "SUBMITTED"], 1],
    [["COMPLETED", "WORKING"], 1],
  ])("check the order of the states %j", (states, mismatches) => {
    expect(checkStream({ ordering: "monotonic_state" }, states.map(status))).toHaveLength(mismatches);
  });
});

describe("shapes", () => {
  const task = { id: "1", status: { state: "TASK_STATE_COMPLETED", timestamp: "2026-01-01T00:00:00.1Z" } };

  it("accept a task, and members that A2A does not define", () => {
    expect(checkShape("SendMessageResponse", { task: { ...task, "x-member": 1 } })).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ["two results", { task, message: {} }, "SendMessageResponse"],
    ["a missing id", { task: { status: task.status } }, "SendMessageResponse.task.id"],
    [
      "a state without prefix",
      { task: { ...task, status: { state: "completed" } } },
      "SendMessageResponse.task.status.state",
    ],
    ["a snake case member", { task: { ...task, context_id: "c" } }, "SendMessageResponse.task.context_id"],
    [
      "a part with two contents",
      { message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "", url: "" }] } },
      "SendMessageResponse.message.parts[0]",
    ],
    ["a list that is none", { task: { ...task, artifacts: {} } }, "SendMessageResponse.task.artifacts"],
  ])("reject %s", (_name, value, path) => {
    expect(checkShape("SendMessageResponse", value).map((mismatch) => mismatch.path)).toEqual([path]);
  });
});
