import type * as official from "a2a-js-sdk-0.3";
import { describe, expect, it } from "vitest";
import {
  A2AError,
  LogEvent,
  TASK_STATES,
  type Part,
  type Task,
  type TaskEvent,
} from "../../protocol/index.ts";
import {
  decodeResult,
  encodeParams,
  jsonRpcDialect,
  protoJsonCodec,
  restDialect,
  toTask03,
} from "./index.ts";
import type { Card03, Event03, Message03, Part03, Task03, TaskPushConfig03 } from "./types.ts";

const task: Task = {
  id: "t",
  contextId: "c",
  status: {
    state: "TASK_STATE_CANCELED",
    message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "stopped" }] },
    timestamp: "2026-01-31T12:00:00.000Z",
  },
  artifacts: [
    { artifactId: "a", parts: [{ url: "https://example.com/a", filename: "a", mediaType: "image/png" }] },
  ],
  history: [{ messageId: "u", role: "ROLE_USER", parts: [{ text: "go" }], referenceTaskIds: ["r"] }],
};

const encodeEventJson = (event: TaskEvent): unknown =>
  JSON.parse(jsonRpcDialect.encodeEvent(LogEvent.create(1, event)));
const encodePart = (part: Part): unknown =>
  (encodeEventJson({ message: { messageId: "m", role: "ROLE_AGENT", parts: [part] } }) as Message03).parts[0];

describe("an encoded value of 0.3", () => {
  it("has the official types [V-02, V-03, V-07, V-10, V-19]", () => {
    // The compiler verifies these assignments.
    const shapes = {} as [Task03, Message03, Event03, Part03, Card03, TaskPushConfig03];
    const same: [
      official.Task,
      official.Message,
      official.Task | official.Message | official.TaskStatusUpdateEvent | official.TaskArtifactUpdateEvent,
      official.Part,
      official.AgentCard,
      official.TaskPushNotificationConfig,
    ] = shapes;
    expect(same).toBe(shapes);
  });

  it("contains a task without an envelope [V-02, V-05, V-24]", () => {
    const bare = {
      kind: "task",
      id: "t",
      contextId: "c",
      status: {
        state: "canceled",
        message: {
          kind: "message",
          messageId: "m",
          role: "agent",
          parts: [{ kind: "text", text: "stopped" }],
        },
        timestamp: "2026-01-31T12:00:00.000Z",
      },
      artifacts: [
        {
          artifactId: "a",
          parts: [{ kind: "file", file: { uri: "https://example.com/a", name: "a", mimeType: "image/png" } }],
        },
      ],
      history: [
        {
          kind: "message",
          messageId: "u",
          role: "user",
          parts: [{ kind: "text", text: "go" }],
          referenceTaskIds: ["r"],
        },
      ],
    };
    expect(toTask03(task)).toEqual(bare);
    expect(jsonRpcDialect.toResultJson("SendMessage", { task })).toEqual(bare);
    expect(jsonRpcDialect.toResultJson("GetTask", task)).toEqual(bare);
    expect(encodeEventJson({ task })).toEqual(bare);
  });

  it("omits members that 0.3 does not have, and wraps data that is not an object [V-07, V-08]", () => {
    expect(encodePart({ text: "x", mediaType: "text/markdown", filename: "x.md" })).toEqual({
      kind: "text",
      text: "x",
    });
    expect(encodePart({ data: { a: 1 }, mediaType: "application/json" })).toEqual({
      kind: "data",
      data: { a: 1 },
    });
    expect(encodePart({ data: null, metadata: { b: 1 } })).toEqual({
      kind: "data",
      data: { value: null },
      metadata: { b: 1, data_part_compat: true },
    });
    expect(encodePart({ raw: "AA==", metadata: { b: 1 } })).toEqual({
      kind: "file",
      file: { bytes: "AA==" },
      metadata: { b: 1 },
    });
  });

  it.each(TASK_STATES)("states whether the status ends the turn: %s [V-04, V-05]", (state) => {
    const event = { statusUpdate: { taskId: "t", contextId: "c", status: { state } } };
    const final = !["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"].includes(state);
    expect(encodeEventJson(event)).toEqual({
      kind: "status-update",
      taskId: "t",
      contextId: "c",
      status: { state: state.slice("TASK_STATE_".length).toLowerCase().replace("_", "-") },
      final,
    });
    const logged = LogEvent.create(1, event);
    expect(jsonRpcDialect.isLastEvent?.(logged, "SendStreamingMessage")).toBe(final);
    expect(jsonRpcDialect.isLastEvent?.(logged, "SubscribeToTask")).toBe(final);
  });

  it("ends a stream with a terminal task, and a subscription also with a task that waits [V-04, V-12]", () => {
    const isLast = (state: Task["status"]["state"], operation: "SendStreamingMessage" | "SubscribeToTask") =>
      jsonRpcDialect.isLastEvent?.(LogEvent.create(1, { task: { ...task, status: { state } } }), operation);
    expect(isLast("TASK_STATE_COMPLETED", "SendStreamingMessage")).toBe(true);
    expect(isLast("TASK_STATE_COMPLETED", "SubscribeToTask")).toBe(true);
    expect(isLast("TASK_STATE_INPUT_REQUIRED", "SendStreamingMessage")).toBe(false);
    expect(isLast("TASK_STATE_INPUT_REQUIRED", "SubscribeToTask")).toBe(true);
    expect(isLast("TASK_STATE_WORKING", "SubscribeToTask")).toBe(false);
  });

  it("is serialized once per event for all readers", () => {
    let readings = 0;
    const counted = {
      get task() {
        readings++;
        return task;
      },
    };
    const event = LogEvent.create(1, counted);
    const text = jsonRpcDialect.encodeEvent(event);
    const once = readings;
    expect([jsonRpcDialect.encodeEvent(event), jsonRpcDialect.encodeEvent(event)]).toEqual([text, text]);
    expect(readings).toBe(once);
  });

  it("lists push configurations as an array, and is null after a deletion [V-10]", () => {
    const config = { taskId: "t", id: "c", url: "https://example.com", authentication: { scheme: "Bearer" } };
    expect(jsonRpcDialect.toResultJson("ListTaskPushNotificationConfigs", { configs: [config] })).toEqual([
      {
        taskId: "t",
        pushNotificationConfig: {
          id: "c",
          url: "https://example.com",
          authentication: { schemes: ["Bearer"] },
        },
      },
    ]);
    expect(jsonRpcDialect.toResultJson("DeleteTaskPushNotificationConfig", {})).toBeNull();
  });

  it("contains an error code that 0.3 defines [V-11, V-16]", () => {
    const encodeError = (error: A2AError): unknown => JSON.parse(jsonRpcDialect.encodeError(1, error));
    expect(encodeError(A2AError.taskNotFound("x"))).toMatchObject({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32001 },
    });
    for (const [reason, code] of [
      ["EXTENDED_AGENT_CARD_NOT_CONFIGURED", -32007],
      ["EXTENSION_SUPPORT_REQUIRED", -32600],
      ["VERSION_NOT_SUPPORTED", -32004],
    ] as const) {
      expect(encodeError(new A2AError(reason, "no"))).toMatchObject({ error: { code, message: "no" } });
    }
    expect(restDialect.toErrorResponse(A2AError.taskNotFound("x"), "1.0.1")).toMatchObject({
      status: 404,
      body: { code: -32001, message: expect.stringContaining("x") as unknown },
    });
  });
});

describe("an encoded message of 0.3's proto", () => {
  it("contains a task in the proto's form [V-23]", () => {
    const proto = {
      id: "t",
      contextId: "c",
      status: {
        state: "TASK_STATE_CANCELLED",
        message: { messageId: "m", role: "ROLE_AGENT", content: [{ text: "stopped" }] },
        timestamp: "2026-01-31T12:00:00.000Z",
      },
      artifacts: [
        {
          artifactId: "a",
          parts: [{ file: { fileWithUri: "https://example.com/a", mimeType: "image/png" } }],
        },
      ],
      history: [{ messageId: "u", role: "ROLE_USER", content: [{ text: "go" }] }],
    };
    expect(protoJsonCodec.toResultJson("GetTask", task)).toEqual(proto);
    expect(protoJsonCodec.toResultJson("SendMessage", { task })).toEqual({ task: proto });
    expect(JSON.parse(protoJsonCodec.encodeEvent(LogEvent.create(1, { task })))).toEqual({ task: proto });
  });

  it("states whether a status is final, and identifies configurations by resource names [V-04, V-23]", () => {
    const event = {
      statusUpdate: { taskId: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } },
    } as const;
    expect(JSON.parse(protoJsonCodec.encodeEvent(LogEvent.create(1, event)))).toEqual({
      statusUpdate: { ...event.statusUpdate, final: false },
    });
    const config = { taskId: "t", id: "c", url: "https://example.com" };
    expect(protoJsonCodec.toResultJson("GetTaskPushNotificationConfig", config)).toEqual({
      name: "tasks/t/pushNotificationConfigs/c",
      pushNotificationConfig: { id: "c", url: "https://example.com" },
    });
    expect(protoJsonCodec.toResultJson("DeleteTaskPushNotificationConfig", {})).toEqual({});
  });
});

describe("a decoded response of 0.3", () => {
  it("is identified by its kind, or by its members if the kind is missing [V-03]", () => {
    const status = { state: "working" };
    const read = (json: unknown): string | undefined =>
      Object.keys(decodeResult("SendStreamingMessage", json))[0];
    expect(read({ id: "t", status })).toBe("task");
    expect(read({ taskId: "t", status })).toBe("statusUpdate");
    expect(read({ taskId: "t", artifact: { artifactId: "a", parts: [] } })).toBe("artifactUpdate");
    expect(read({ messageId: "m", role: "agent", parts: [] })).toBe("message");
    expect(read({ kind: "status-update", taskId: "t", status, final: false })).toBe("statusUpdate");
  });

  it("is decoded tolerantly [V-05]", () => {
    const odd = {
      kind: "task",
      id: "t",
      status: { state: "unknown", timestamp: null },
      history: [
        {
          role: "system",
          messageId: "m",
          parts: [
            { kind: "image", url: "x" },
            { kind: "text", text: "y" },
          ],
        },
      ],
    };
    expect(decodeResult("GetTask", odd)).toEqual({
      id: "t",
      contextId: "",
      status: { state: "TASK_STATE_UNSPECIFIED" },
      history: [{ role: "ROLE_AGENT", messageId: "m", parts: [{}, { text: "y" }] }],
    });
    expect(() =>
      decodeResult("SendMessage", { kind: "status-update", taskId: "t", status: odd.status }),
    ).toThrow("must be a task or a message");
  });

  it("is never a list of tasks [V-25]", () => {
    expect(() => encodeParams("ListTasks", {})).toThrow(
      expect.objectContaining({ reason: "UNSUPPORTED_OPERATION" }),
    );
    expect(jsonRpcDialect.findOperation("tasks/list")).toBeUndefined();
    expect(jsonRpcDialect.findOperation("toString")).toBeUndefined();
  });
});
