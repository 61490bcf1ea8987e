import { assert, constantFrom, jsonValue, oneof, property, record, string } from "fast-check";
import { describe, expect, it } from "vitest";
import {
  A2AError,
  LogEvent,
  TASK_STATES,
  type Message,
  type Task,
  type TaskEvent,
} from "../../protocol/index.ts";
import { taskEventStreamCodec } from "./simple-json-rpc-dialect.ts";
import { createSimpleDialect, toSimpleError } from "./index.ts";

const context = { agentId: "research", createMessageId: () => "new-id" };
const parts = [{ kind: "text", text: "hi" }];

/** Decodes a request of the dialect to an operation and its parameters. */
function decodeRequest(method: string, params: unknown): unknown {
  const dialect = createSimpleDialect(method, params, context);
  if (!dialect) throw new Error(`${method} is not of the dialect`);
  return dialect.decodeParams(dialect.findOperation(method) ?? "GetTask", params);
}

function collectViolationFields(method: string, params: unknown): string[] {
  try {
    decodeRequest(method, params);
    return [];
  } catch (error) {
    return A2AError.from(error).violations.map(({ field }) => field);
  }
}

describe("a request of the simple dialect", () => {
  it.each([
    ["tasks/create", { skill: "s", input: {} }],
    ["tasks/create", {}],
    ["tasks/get", { taskId: "t" }],
    ["message/send", { message: { role: "user", parts } }],
    ["message/stream", { message: { role: "user", parts, metadata: {} }, messageId: "m", thread: {} }],
  ])("is identified by its members: %s %j", (method, params) => {
    expect(createSimpleDialect(method, params, context)).toBeDefined();
  });

  it.each([
    ["tasks/get", { id: "t" }],
    ["tasks/get", { id: "t", taskId: "t" }],
    ["tasks/get", {}],
    ["tasks/cancel", { taskId: "t" }],
    ["message/send", {}],
    ["message/send", { message: {} }],
    ["message/send", { message: { role: "user", parts, messageId: "m" } }],
    ["message/send", { message: { role: "user", parts, kind: "message" } }],
    ["message/send", { message: { role: "user", parts }, configuration: { blocking: true } }],
    ["SendMessage", { message: { role: "ROLE_USER", parts: [{ text: "x" }] } }],
  ])("excludes 0.3 requests and ambiguous requests: %s %j", (method, params) => {
    expect(createSimpleDialect(method, params, context)).toBeUndefined();
  });

  it("that creates a task becomes a message with the input as data, its question as text, and the skill", () => {
    const input = { query: "who?", depth: "deep" };
    expect(decodeRequest("tasks/create", { skill: "web_research", input })).toEqual({
      message: {
        messageId: "new-id",
        role: "ROLE_USER",
        parts: [{ text: "who?" }, { data: input }],
        metadata: { skill: "web_research" },
      },
      configuration: { returnImmediately: true },
    });
  });

  it.each([
    [{ depth: "x", prompt: "p" }, ["p"]],
    [{ city: "Seoul", days: 3 }, ["Seoul"]],
    [{ a: "1", b: "2" }, []],
    [{ query: "", n: 1 }, []],
    [{}, []],
  ])("has the question of its input as text: %j", (input, texts) => {
    const { message } = decodeRequest("tasks/create", { skill: "s", input }) as {
      message: { parts: unknown[] };
    };
    expect(message.parts).toEqual([...texts.map((text) => ({ text })), { data: input }]);
  });

  it("that sends a message has the message id next to it, and the thread as its context", () => {
    const params = {
      message: { role: "user", parts, metadata: { timestamp: "now" } },
      messageId: "msg_123",
      thread: { threadId: "thread_abc" },
      taskId: "t",
    };
    expect(decodeRequest("message/send", params)).toEqual({
      message: {
        messageId: "msg_123",
        role: "ROLE_USER",
        parts: [{ text: "hi" }],
        contextId: "thread_abc",
        taskId: "t",
        metadata: { timestamp: "now" },
      },
    });
    expect(decodeRequest("message/stream", { message: { role: "user", parts } })).toMatchObject({
      message: { messageId: "new-id" },
    });
  });

  it("may have parts of all four kinds", () => {
    const simpleParts = [
      { kind: "text", text: "", metadata: { a: 1 } },
      { kind: "data", data: null },
      { kind: "file", url: "https://x.test/a.pdf", mimeType: "application/pdf", name: "a.pdf" },
      { kind: "image", bytes: "aGk", mimeType: "image/png" },
    ];
    const { message } = decodeRequest("message/send", { message: { role: "user", parts: simpleParts } }) as {
      message: { parts: unknown[] };
    };
    expect(message.parts).toEqual([
      { text: "", metadata: { a: 1 } },
      { data: null },
      { url: "https://x.test/a.pdf", mediaType: "application/pdf", filename: "a.pdf" },
      { raw: "aGk=", mediaType: "image/png" },
    ]);
  });

  it("is rejected with every violation and its path", () => {
    expect(collectViolationFields("tasks/create", {})).toEqual(["skill", "input"]);
    expect(collectViolationFields("tasks/create", { skill: "", input: [] })).toEqual(["skill", "input"]);
    expect(collectViolationFields("tasks/get", { taskId: 7 })).toEqual(["taskId"]);
    const wrong = [
      { text: "no kind" },
      { kind: "video" },
      { kind: "text" },
      { kind: "data" },
      { kind: "file" },
      { kind: "file", url: "u", bytes: "aGk=" },
      { kind: "image", url: "u" },
      { kind: "file", bytes: "?" },
    ];
    expect(collectViolationFields("message/send", { message: { role: "agent", parts: wrong } })).toEqual([
      "message.role",
      "message.parts[0].kind",
      "message.parts[1].kind",
      "message.parts[2]",
      "message.parts[3]",
      "message.parts[4]",
      "message.parts[5]",
      "message.parts[6]",
      "message.parts[7].bytes",
    ]);
  });

  it("is rejected with more violations than are reported", () => {
    const wrong = Array.from({ length: 150 }, () => ({ kind: "image", mimeType: 3, url: "u" }));
    expect(collectViolationFields("message/send", { message: { role: "user", parts: wrong } })).toHaveLength(
      20,
    );
  });

  it("is decoded or rejected as invalid for any input", () => {
    const methods = constantFrom("tasks/create", "tasks/get", "message/send", "message/stream");
    const close = record(
      {
        taskId: jsonValue(),
        skill: jsonValue(),
        input: jsonValue(),
        message: record({ role: constantFrom("user", 1), parts: jsonValue() }, { requiredKeys: ["parts"] }),
      },
      { requiredKeys: [] },
    );
    assert(
      property(methods, oneof(jsonValue(), close), (method, params) => {
        const dialect = createSimpleDialect(method, params, context);
        try {
          dialect?.decodeParams("GetTask", params);
        } catch (error) {
          expect(error).toBeInstanceOf(A2AError);
          expect((error as A2AError).reason).toBe("INVALID_PARAMS");
        }
      }),
    );
  });
});

describe("a task in the simple dialect", () => {
  const id = "01936f2e-7a00-7abc-8def-0123456789ab";
  const created = new Date(0x01936f2e7a00).toISOString();
  const task = (overrides: Partial<Task> = {}): Task => ({
    id,
    contextId: "c",
    status: { state: "TASK_STATE_WORKING", timestamp: "2026-01-01T00:00:00.000Z" },
    ...overrides,
  });

  function written(method: string, result: unknown): unknown {
    const params = { taskId: id, skill: "s", input: {}, message: { role: "user", parts } };
    const shown =
      method === "message/send"
        ? { message: params.message }
        : method === "tasks/get"
          ? { taskId: id }
          : params;
    const dialect = createSimpleDialect(method, shown, context);
    return JSON.parse(JSON.stringify(dialect?.toResultJson("GetTask", result as Task) ?? null));
  }

  it("has the guide's members", () => {
    const first: Message = {
      messageId: "m",
      role: "ROLE_USER",
      parts: [{ text: "q" }, { data: { query: "q" } }],
      metadata: { skill: "web_research" },
    };
    const file = {
      artifactId: "a",
      name: "Report",
      parts: [{ text: "# R" }, { url: "https://x.test/r.pdf", mediaType: "application/pdf" }],
    };
    expect(written("tasks/get", task({ history: [first], artifacts: [file] }))).toEqual({
      taskId: id,
      agentId: "research",
      thread: { threadId: "c" },
      skill: "web_research",
      input: { query: "q" },
      status: "running",
      artifacts: [
        {
          artifactId: "a",
          name: "Report",
          parts: [
            { kind: "text", text: "# R" },
            { kind: "file", url: "https://x.test/r.pdf", mimeType: "application/pdf" },
          ],
        },
      ],
      createdAt: created,
      updatedAt: "2026-01-01T00:00:00.000Z",
    });
  });

  it("is pending in the result of its creation, even after progress", () => {
    expect(written("tasks/create", { task: task() })).toEqual({
      taskId: id,
      agentId: "research",
      thread: { threadId: "c" },
      status: "pending",
      createdAt: created,
      updatedAt: created,
    });
  });

  it("has one of five states", () => {
    const states = TASK_STATES.map((state) => {
      const { status, waitingFor } = written("tasks/get", task({ status: { state } })) as {
        status: string;
        waitingFor?: string;
      };
      return waitingFor === undefined ? status : `${status}: ${waitingFor}`;
    });
    expect(states).toEqual([
      "pending",
      "running",
      "running: input",
      "running: authorization",
      "completed",
      "failed",
      "cancelled",
      "failed",
    ]);
  });

  it("may be replaced by an agent's message", () => {
    const message = { messageId: "m", contextId: "c", role: "ROLE_AGENT", parts: [{ text: "hello" }] };
    expect(written("message/send", { message })).toEqual({
      role: "agent",
      parts: [{ kind: "text", text: "hello" }],
      messageId: "m",
      thread: { threadId: "c" },
    });
  });

  it("has parts of every kind", () => {
    const part = record(
      {
        text: string(),
        name: string({ minLength: 1 }),
        mimeType: constantFrom("text/plain", "text/markdown"),
      },
      { requiredKeys: ["text"] },
    );
    assert(
      property(part, (content) => {
        const kinds = [
          { kind: "text", ...content },
          { kind: "data", data: { text: content.text } },
          { kind: "file", url: content.text, mimeType: "application/pdf" },
          { kind: "image", url: content.text, mimeType: "image/png" },
        ];
        const { message } = decodeRequest("message/send", { message: { role: "user", parts: kinds } }) as {
          message: Message;
        };
        const artifacts = [{ artifactId: "a", parts: message.parts }];
        expect(written("tasks/get", task({ artifacts }))).toMatchObject({
          artifacts: [{ parts: kinds }],
        });
      }),
    );
  });
});

describe("an event in the simple dialect", () => {
  const at = { taskId: "t", contextId: "c" };
  const status = (state: Task["status"]["state"], text?: string): TaskEvent => ({
    statusUpdate: {
      ...at,
      status: {
        state,
        ...(text === undefined
          ? {}
          : { message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text }] } as const }),
      },
    },
  });
  const frame = (event: TaskEvent, seq = 3): string =>
    taskEventStreamCodec.encodeEvent(LogEvent.create(seq, event));
  const data = (text: string): unknown[] =>
    [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json ?? ""));

  it("has a name, its type in the data, and its number as the last field", () => {
    const artifact = { artifactId: "a", name: "Draft", parts: [{ text: "x" }] };
    expect(frame({ artifactUpdate: { ...at, artifact, append: true, lastChunk: true } })).toBe(
      `event: artifact\ndata: {"type":"artifact","artifactId":"a","name":"Draft","parts":[{"kind":"text","text":"x"}],"append":true,"lastChunk":true,"taskId":"t"}\nid: 3\n\n`,
    );
    expect(frame(status("TASK_STATE_COMPLETED", "bye"))).toBe(
      `event: message\ndata: {"type":"message","role":"agent","parts":[{"kind":"text","text":"bye"}],"taskId":"t"}\n\n` +
        `event: done\ndata: {"type":"done","status":"completed","taskId":"t"}\nid: 3\n\n`,
    );
  });

  it("without a counterpart in the dialect is only its number", () => {
    expect(frame(status("TASK_STATE_WORKING"))).toBe("id: 3\n\n");
    const birth = { id: "t", contextId: "c", status: { state: "TASK_STATE_SUBMITTED" } } as const;
    expect(frame({ task: birth }, 1)).toBe("id: 1\n\n");
  });

  it("that ends the task contains its final status", () => {
    expect(data(frame(status("TASK_STATE_CANCELED")))).toEqual([
      { type: "done", status: "cancelled", taskId: "t" },
    ]);
    expect(data(frame(status("TASK_STATE_REJECTED", "no")))[1]).toEqual({
      type: "error",
      status: "failed",
      message: "no",
      taskId: "t",
    });
    expect(data(frame(status("TASK_STATE_FAILED")))).toMatchObject([{ type: "error", status: "failed" }]);
  });

  it("that is a terminal task replaces all earlier events", () => {
    const artifacts = [{ artifactId: "a", parts: [{ text: "x" }] }];
    const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" }, artifacts } as const;
    const frames = data(frame({ task: { ...task, artifacts: [...artifacts] } })) as { type: string }[];
    expect(frames.map(({ type }) => type)).toEqual(["artifact", "done"]);
  });

  it("that requests input is followed by a done event only at the end of the stream", () => {
    const asking = LogEvent.create(3, status("TASK_STATE_INPUT_REQUIRED", "which?"));
    const sent = createSimpleDialect("message/stream", { message: { role: "user", parts } }, context);
    const done = [{ type: "done", status: "running", waitingFor: "input", taskId: "t" }];
    for (const encoder of [sent?.eventEncoder, taskEventStreamCodec]) {
      expect(data(encoder?.encodeEvent(asking) ?? "")).toMatchObject([{ type: "message" }]);
      const end = encoder?.encodeEnd?.(asking) ?? "";
      expect(data(end)).toEqual(done);
      expect(end).toContain("\nid: 3\n");
    }
    const completed = LogEvent.create(4, status("TASK_STATE_COMPLETED"));
    expect(taskEventStreamCodec.encodeEnd?.(completed)).toBe("");
  });

  it("that is an agent's message without a task ends the stream and has no number", () => {
    const message = { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "x" }] } as const;
    const frames = frame({ message: { ...message, parts: [...message.parts] } }, 0);
    expect(frames).not.toContain("id:");
    expect(data(frames)).toMatchObject([
      { type: "message", role: "agent" },
      { type: "done", status: "completed" },
    ]);
  });

  it("that reports a stream failure has no state, because the task continues", () => {
    expect(data(taskEventStreamCodec.encodeFailure(new A2AError("UNAVAILABLE", "cut")))).toEqual([
      { type: "error", code: -32000, message: "cut" },
    ]);
  });
});

describe("an error of the simple dialect", () => {
  it("has the guide's code for a task that is not found, and A2A's code otherwise", () => {
    expect(toSimpleError(A2AError.taskNotFound("t")).code).toBe(-32004);
    expect(toSimpleError(A2AError.invalidParams([])).code).toBe(-32602);
    expect(toSimpleError(new A2AError("TASK_NOT_CANCELABLE", "")).code).toBe(-32002);
  });
});
