import { CORE_SCHEMA, load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { formatReport } from "../../../lab/acts/format-report.ts";
import { choosePass } from "../../../lab/acts/passes.ts";
import { parseDocument, type ActsTest, type JsonMap } from "./acts/corpus.ts";
import { findUnexpected, findUnknownExceptions, type ExpectedException } from "./report.ts";
import { runTest, type TestResult } from "./acts/run-test.ts";
import type { TestContext } from "./acts/test-run.ts";
import type { Reply, Transport } from "./acts/transport.ts";
import { nameErrorByReason, nameJsonRpcError } from "./acts/wire-tables.ts";

const parseTests = (steps: string): readonly ActsTest[] =>
  parseDocument(
    load(
      `acts_version: "1.0"
spec_version: "1.0"
suites:
  - id: suite
    name: Suite
    tests:
${steps}`,
      { schema: CORE_SCHEMA },
    ),
    "test.yaml",
  ).tests;

const parseTest = (members: string): ActsTest => {
  const [test] = parseTests(`      - {id: T-1, name: Test, level: must, ${members}}`);
  if (!test) throw new Error("The document has no test.");
  return test;
};

describe("documents", () => {
  it.each([
    ["an unknown member of a step", "steps: [{id: a, operation: get_task, streams: 2}]"],
    ["a step without an action", "steps: [{id: a}]"],
    ["a step with two actions", "steps: [{id: a, operation: get_task, raw: {method: GET, path: /}}]"],
    ["an unknown transport", "transport: [soap], steps: []"],
    ["an assertion without a check", "steps: [], assertions: [{source: x}]"],
  ])("with %s are rejected", (_name, members) => {
    expect(() => parseTest(members)).toThrow(/T-1|test\.yaml/);
  });

  it("of another major version are rejected", () => {
    expect(() => parseDocument({ acts_version: "2.0", spec_version: "1.0" }, "x.yaml")).toThrow(
      "version 2.0",
    );
  });

  it("assign each test to one start of the agent", () => {
    const pass = (preconditions: string): string => choosePass(parseTest(`${preconditions}, steps: []`));
    expect(pass("preconditions: {authentication: true}")).toBe("auth");
    expect(pass("preconditions: {capabilities: {streaming: false}}")).toBe("reduced");
    expect(pass("preconditions: {capabilities: {streaming: true}}")).toBe("default");
  });
});

/** A server that returns the given replies in turn, and records the requests. */
function createContext(
  replies: readonly Partial<Reply>[],
  overrides: Partial<TestContext> = {},
): { context: TestContext; requests: JsonMap[] } {
  const requests: JsonMap[] = [];
  const queue = [...replies];
  const reply = (request: JsonMap): Promise<Reply> => {
    requests.push(request);
    const next = queue.shift() ?? {};
    return Promise.resolve({ status: 200, headers: {}, body: undefined, ...next });
  };
  const transport: Transport = {
    call: (operation, params, { headers }) => reply({ operation, params, headers }),
    sendRaw: (raw) => reply({ ...raw }),
  };
  const context: TestContext = {
    binding: "jsonrpc",
    specVersion: "1.0",
    baseUrl: "http://unused.invalid",
    card: { capabilities: { streaming: true } },
    transport,
    token: "token",
    behaviors: "all",
    webhooks: undefined,
    variables: {},
    ...overrides,
  };
  return { context, requests };
}

async function run(
  members: string,
  replies: readonly Partial<Reply>[],
  overrides?: Partial<TestContext>,
): Promise<string> {
  const { outcome, reason = "" } = await runTest(
    parseTest(members),
    createContext(replies, overrides).context,
  );
  return `${outcome} ${reason}`;
}

const notFound = { error_type: "TaskNotFoundError", message: "Not found", details: [] };

describe("a test", () => {
  it("passes captures on, and adds the version, the credentials, and a message id", async () => {
    const test = parseTest(`steps: [
      {id: send, operation: send_message, params: {message: {parts: []}}, capture: {taskId: task.id}},
      {id: get, operation: get_task, params: {id: "{{send.taskId}}"}, expect: {body: {id: "{{send.taskId}}"}}}]`);
    const { context, requests } = createContext([{ body: { task: { id: "t" } } }, { body: { id: "t" } }]);
    expect(await runTest(test, context)).toMatchObject({ outcome: "passed" });
    expect(requests).toEqual([
      {
        operation: "send_message",
        params: { message: { messageId: expect.any(String) as unknown, parts: [] } },
        headers: { "A2A-Version": "1.0", Authorization: "Bearer token" },
      },
      expect.objectContaining({ params: { id: "t" } }),
    ]);
  });

  it("sends raw requests with only the headers of the test", async () => {
    const test = parseTest(
      `steps: [{id: a, raw: {method: GET, path: /x}, expect: {body: {error: {code: 1}}}}]`,
    );
    const { context, requests } = createContext([{ body: { error: { code: 1 } }, error: notFound }]);
    expect(await runTest(test, context)).toMatchObject({ outcome: "passed" });
    expect(requests).toEqual([{ method: "GET", path: "/x" }]);
  });

  it.each<[string, string, Partial<Reply>[], string]>([
    [
      "an unexpected error",
      "expect: {body: {}}",
      [{ error: notFound }],
      "failed The server returned TaskNotFound",
    ],
    ["a missing error", "expect_error: {error_type: TaskNotFoundError}", [{}], "failed The server accepted"],
    [
      "another error",
      "expect_error: {error_type: InternalError}",
      [{ error: notFound }],
      "failed error.error_type",
    ],
    [
      "the error",
      "expect_error: {error_type: TaskNotFoundError, message: {type: string}}",
      [{ error: notFound }],
      "passed",
    ],
    ["a wrong status", "expect: {status: 201}", [{}], "failed status is 200"],
    ["a missing header", "expect: {headers: {ETag: {exists: true}}}", [{}], "failed headers.etag"],
    [
      "a value that a later step needs",
      "capture: {a: task.id}",
      [{ body: {} }],
      "failed The response has no task.id",
    ],
    ["an unknown variable", `params: {id: "{{nobody.id}}"}`, [{}], "not verified The variable {{nobody.id}}"],
    [
      "a condition that stays false",
      "repeat: {until: a == 1, max_attempts: 2, delay_ms: 1}",
      [{}, {}],
      'failed "a == 1"',
    ],
    [
      "a condition that becomes true",
      "repeat: {until: a == 1, delay_ms: 1}",
      [{ body: {} }, { body: { a: 1 } }],
      "passed",
    ],
  ])("with %s", async (_name, members, replies, result) => {
    const outcome = await run(`steps: [{id: a, operation: get_task, ${members}}]`, replies);
    expect(outcome.slice(0, result.length)).toBe(result);
  });

  it("fails if its stream breaks after the expected events", async () => {
    async function* breakingStream(): AsyncIterable<unknown> {
      yield { task: { status: { state: "TASK_STATE_WORKING" } } };
      throw new Error("reset");
    }
    const members = "steps: [{id: a, operation: subscribe_to_task, expect_stream: {min_count: 1}}]";
    expect(await run(members, [{ events: breakingStream() }])).toMatch(/^failed After 1 events.*reset/);
  });

  it("is not verified if its preconditions, its behaviors, or its demands are not fulfilled", async () => {
    const steps = "steps: [{id: a, operation: get_task}]";
    expect(await run(`preconditions: {capabilities: {pushNotifications: true}}, ${steps}`, [])).toMatch(
      "not verified The card declares pushNotifications as false",
    );
    expect(await run(`preconditions: {authentication: true}, ${steps}`, [])).toMatch("not verified The card");
    expect(await run(`requires_behaviors: [tck-x], ${steps}`, [], { behaviors: undefined })).toMatch(
      "not verified The server does not declare the behavior tck-x",
    );
    expect(await run(`requires_behaviors: [tck-x], ${steps}`, [], { behaviors: new Set() })).toMatch(
      "failed",
    );
    expect(await run(steps, [], { card: undefined })).toMatch("not verified The agent card is not available");
    expect(await run(`description: Runner MUST do more., ${steps}`, [])).toMatch(
      "not verified The steps do not check this demand: Runner MUST do more.",
    );
  });
});

describe("errors", () => {
  const info = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "TASK_NOT_FOUND" }];

  it("have a name only if the code, or the reason with its status, is that of A2A", () => {
    expect(nameJsonRpcError(-32001)).toBe("TaskNotFoundError");
    expect(nameJsonRpcError(-32000)).toMatch("unknown error");
    expect(nameErrorByReason(info, "http", 404)).toBe("TaskNotFoundError");
    expect(nameErrorByReason(info, "http", 500)).toBe("TaskNotFoundError with the wrong status 500");
    expect(nameErrorByReason(info, "grpc", "NOT_FOUND")).toBe("TaskNotFoundError");
    expect(nameErrorByReason([], "grpc", "NOT_FOUND")).toMatch("error without ErrorInfo");
  });
});

describe("the list of exceptions", () => {
  const test = parseTest("steps: []");
  const result = (outcome: TestResult["outcome"]): TestResult => ({
    test,
    outcome,
    durationMs: 1,
    reason: "why",
  });
  const exception: ExpectedException = {
    test: "T-1",
    bindings: ["rest"],
    outcome: "failed",
    reason: "known",
  };

  it("must name each test that does not pass, and no other test", () => {
    const find = (outcome: TestResult["outcome"], list: readonly ExpectedException[]): string[] =>
      findUnexpected({ binding: "rest", results: [result(outcome)] }, list);
    expect(find("passed", [])).toEqual([]);
    expect(find("failed", [exception])).toEqual([]);
    expect(find("failed", [])).toEqual(["T-1 on rest: failed (why), without an exception."]);
    expect(find("passed", [exception])).toHaveLength(1);
    expect(find("not verified", [exception])).toHaveLength(1);
    expect(find("failed", [{ ...exception, bindings: ["grpc"] }])).toHaveLength(1);
  });

  it("must name tests of the corpus", () => {
    expect(findUnknownExceptions([exception], [test])).toEqual([]);
    expect(findUnknownExceptions([{ ...exception, test: "T-2" }], [test])).toHaveLength(1);
    expect(findUnknownExceptions([exception], [{ ...test, transport: ["grpc"] }])).toHaveLength(1);
  });

  it("appears in the text", () => {
    const text = formatReport({ binding: "rest", results: [result("failed")] }, [exception]);
    expect(text.split("\n")).toEqual([
      "rest: 0 of 1 passed, 1 failed, 0 not verified",
      "  MUST   0 of 1 passed, 1 failed, 0 not verified",
      "  SHOULD 0 of 0 passed, 0 failed, 0 not verified",
      "  MAY    0 of 0 passed, 0 failed, 0 not verified",
      "  failed T-1 (must): why",
      "      expected: known",
    ]);
  });
});
