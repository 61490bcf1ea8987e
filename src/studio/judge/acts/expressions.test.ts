import { describe, expect, it } from "vitest";
import {
  evaluateCondition,
  ExpressionError,
  MISSING,
  parsePath,
  readAllPaths,
  readPath,
  storeCapture,
  substitute,
  type Scope,
} from "./expressions.ts";

const task = {
  artifacts: [{ parts: [{ text: "a" }, { text: "b" }] }, { parts: [] }, { parts: [{ data: null }] }],
};

describe("paths", () => {
  it("lead through members and elements", () => {
    expect(readPath(task, "artifacts[0].parts[1].text")).toBe("b");
    expect(readPath(task, "artifacts[2].parts[0].data")).toBeNull();
    expect(readPath(task, "")).toBe(task);
  });

  it.each([
    "artifacts[3]",
    "status.state",
    "artifacts.length",
    "artifacts[0].parts[0].text.length",
    "constructor",
  ])("lead nowhere: %s", (path) => expect(readPath(task, path)).toBe(MISSING));

  it("with wildcards lead to all elements", () => {
    expect(readAllPaths(task, "artifacts[*].parts[*].text")).toEqual(["a", "b"]);
    expect(readAllPaths(task, "history[*]")).toEqual([]);
    expect(() => readPath(task, "artifacts[*]")).toThrow(ExpressionError);
  });

  it("with unknown syntax are errors of the test", () => {
    expect(() => parsePath("artifacts[x]")).toThrow(ExpressionError);
  });
});

describe("references", () => {
  let ids = 0;
  const scope: Scope = {
    captures: new Map(),
    variables: { url: "http://localhost", "send.taskId": "variable", count: 2 },
    environment: { TOKEN: "secret" },
    createUuid: () => `uuid-${++ids}`,
  };

  it("are replaced in all texts, and keep the type of a value that stands alone", () => {
    expect(substitute({ a: ["{{count}}", "{{ url }}/x?n={{count}}"], b: null }, scope)).toEqual({
      a: [2, "http://localhost/x?n=2"],
      b: null,
    });
    expect(substitute("{{env.TOKEN}}", scope)).toBe("secret");
    expect(substitute("{{$uuid}} {{$uuid}}", scope)).toBe("uuid-1 uuid-2");
  });

  it("prefer captures of a step to variables", () => {
    expect(substitute("{{send.taskId}}", scope)).toBe("variable");
    storeCapture(scope, "send", "taskId", "captured");
    expect(substitute("{{send.taskId}}", scope)).toBe("captured");
  });

  it("to nothing are errors of the test", () => {
    expect(() => substitute("{{other.taskId}}", scope)).toThrow("{{other.taskId}} is not defined");
  });
});

describe("conditions", () => {
  const response = { status: { state: "DONE" }, count: 1, open: true };

  it.each([
    ["status.state == DONE", true],
    ["status.state != DONE", false],
    ["status.state in [OPEN, DONE]", true],
    ["status.state in [OPEN]", false],
    [`status.state == "DONE"`, true],
    ["count == 1", true],
    ["count in [1, 2]", true],
    ["open == true", true],
    ["missing != DONE", false],
  ])("%s is %j", (condition, result) => {
    expect(evaluateCondition(condition, response)).toBe(result);
  });

  it("with unknown syntax are errors of the test", () => {
    expect(() => evaluateCondition("status.state ~ DONE", response)).toThrow(ExpressionError);
  });
});
