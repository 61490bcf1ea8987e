import { describe, expect, it } from "vitest";
import { A2AError, type OperationName } from "../../protocol/index.ts";
import { decodeParams, protoJsonCodec, restDialect } from "./index.ts";

const hello = { kind: "message", messageId: "m-1", role: "user", parts: [{ kind: "text", text: "hello" }] };
const decodedHello = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "hello" }] };

const decodeSend = (message: unknown, rest: object = {}): unknown =>
  decodeParams("SendMessage", { message, ...rest });
const decodePart = (json: unknown): unknown =>
  decodeParams("SendMessage", { message: { ...hello, parts: [json] } }).message.parts[0];

function collectViolations(run: () => unknown): Record<string, string> {
  try {
    run();
  } catch (error) {
    if (error instanceof A2AError && error.reason === "INVALID_PARAMS") {
      return Object.fromEntries(error.violations.map(({ field, description }) => [field, description]));
    }
    throw error;
  }
  return {};
}

describe("a message of 0.3", () => {
  it("is decoded to the 1.0 model [V-05, V-06]", () => {
    expect(decodeSend(hello)).toEqual({ message: decodedHello });
    const optionalMembers = {
      contextId: "c",
      taskId: "t",
      referenceTaskIds: ["r"],
      extensions: ["e"],
      metadata: { a: 1 },
    };
    expect(decodeSend({ ...hello, ...optionalMembers })).toEqual({
      message: { ...decodedHello, ...optionalMembers },
    });
  });

  it("may lack its kind, as the specification's own example does [V-06]", () => {
    const { kind: _, ...kindless } = hello;
    expect(decodeSend({ ...kindless, parts: [{ text: "hello" }] })).toEqual({ message: decodedHello });
  });

  it("is rejected with every violation and its path [V-06]", () => {
    const bad = {
      kind: "task",
      role: "ROLE_USER",
      parts: [
        { kind: "text", data: {} },
        { kind: "file", file: { bytes: "?", uri: "u" } },
        { kind: "data", data: [1] },
        { kind: "image", text: "x" },
        {},
        null,
      ],
    };
    const configuration = { historyLength: -1, pushNotificationConfig: { authentication: { schemes: [] } } };
    expect(collectViolations(() => decodeSend(bad, { configuration }))).toEqual({
      "message.kind": 'must be "message", not "task"',
      "message.messageId": "is required",
      "message.role": 'must be one of user, agent, not "ROLE_USER"; did you mean user?',
      "message.parts[0]": "is of kind text but has no member text",
      "message.parts[1].file.bytes": "is not base64; encode the bytes with A–Z a–z 0–9 + / and =",
      "message.parts[1].file": "has both bytes and uri; send exactly one of bytes, uri",
      "message.parts[2].data": "must be an object, not an array",
      "message.parts[3].kind": 'must be one of text, file, data, not "image"',
      "message.parts[4]": "must have exactly one of text, file, data",
      "message.parts[5]": "must not be null; leave the element out",
      "configuration.historyLength": "must be 0 or more, not -1; leave it out for the entire history",
      "configuration.pushNotificationConfig.url": "is required",
      "configuration.pushNotificationConfig.authentication.schemes": "must name at least one scheme",
    });
  });

  it("must have the role of the user [V-06]", () => {
    expect(collectViolations(() => decodeSend({ ...hello, role: "agent" }))).toEqual({
      "message.role": "must be user in a request; an agent's role is for responses",
    });
  });

  it("has parts of three kinds [V-07]", () => {
    expect(decodePart({ kind: "text", text: "", metadata: { a: 1 } })).toEqual({
      text: "",
      metadata: { a: 1 },
    });
    expect(
      decodePart({
        kind: "file",
        file: { bytes: "AA==", name: "a.bin", mimeType: "application/octet-stream" },
      }),
    ).toEqual({ raw: "AA==", filename: "a.bin", mediaType: "application/octet-stream" });
    expect(decodePart({ kind: "file", file: { uri: "https://example.com/a" } })).toEqual({
      url: "https://example.com/a",
    });
    expect(decodePart({ kind: "data", data: { a: [1] } })).toEqual({ data: { a: [1] } });
  });

  it("unwraps only data that is marked as wrapped [V-08]", () => {
    const mark = { data_part_compat: true };
    expect(decodePart({ kind: "data", data: { value: null }, metadata: mark })).toEqual({ data: null });
    expect(decodePart({ kind: "data", data: { value: [1] }, metadata: { ...mark, a: 1 } })).toEqual({
      data: [1],
      metadata: { a: 1 },
    });
    expect(decodePart({ kind: "data", data: { value: 1 } })).toEqual({ data: { value: 1 } });
    expect(decodePart({ kind: "data", data: { other: 1 }, metadata: mark })).toEqual({
      data: { other: 1 },
      metadata: mark,
    });
  });
});

describe("the configuration of a 0.3 message", () => {
  it("waits unless blocking is false [V-09]", () => {
    const configured = (configuration: object): unknown =>
      decodeParams("SendMessage", { message: hello, configuration }).configuration;
    expect(configured({})).toBeUndefined();
    expect(configured({ blocking: true, historyLength: 0 })).toEqual({ historyLength: 0 });
    expect(configured({ blocking: false })).toEqual({ returnImmediately: true });
    expect(
      configured({
        acceptedOutputModes: ["text/plain"],
        pushNotificationConfig: {
          id: "c",
          url: "https://example.com",
          token: "t",
          authentication: { schemes: ["Bearer", "Basic"], credentials: "x" },
        },
      }),
    ).toEqual({
      acceptedOutputModes: ["text/plain"],
      taskPushNotificationConfig: {
        id: "c",
        url: "https://example.com",
        token: "t",
        authentication: { scheme: "Bearer", credentials: "x" },
      },
    });
  });
});

describe("the parameters of the other methods of 0.3", () => {
  it("identify a task by its id [V-01]", () => {
    expect(decodeParams("GetTask", { id: "t", historyLength: 0, metadata: {} })).toEqual({
      id: "t",
      historyLength: 0,
    });
    expect(decodeParams("CancelTask", { id: "t", metadata: { a: 1 } })).toEqual({
      id: "t",
      metadata: { a: 1 },
    });
    expect(decodeParams("SubscribeToTask", { id: "t" })).toEqual({ id: "t" });
    expect(collectViolations(() => decodeParams("GetTask", {}))).toEqual({ id: "is required" });
  });

  it("have no tenant [V-25]", () => {
    expect(decodeParams("GetTask", { id: "t", tenant: "acme" })).toEqual({ id: "t" });
  });

  it("may have an empty authentication, as proto messages do, but no credentials without a scheme [V-10]", () => {
    const read = (authentication: object): unknown =>
      decodeParams("CreateTaskPushNotificationConfig", {
        taskId: "t",
        pushNotificationConfig: { id: "c", url: "https://example.com", authentication },
      });
    expect(read({})).toEqual({ taskId: "t", id: "c", url: "https://example.com" });
    expect(collectViolations(() => read({ credentials: "x" }))).toEqual({
      "pushNotificationConfig.authentication": `needs "schemes" with at least one scheme`,
    });
  });

  it("identify a push configuration by two ids, of which one may be missing [V-10]", () => {
    const pushNotificationConfig = { url: "https://example.com" };
    expect(decodeParams("CreateTaskPushNotificationConfig", { taskId: "t", pushNotificationConfig })).toEqual(
      { taskId: "t", id: "default", url: "https://example.com" },
    );
    expect(decodeParams("GetTaskPushNotificationConfig", { id: "t", pushNotificationConfigId: "c" })).toEqual(
      {
        taskId: "t",
        id: "c",
      },
    );
    expect(decodeParams("GetTaskPushNotificationConfig", { id: "t" })).toEqual({ taskId: "t", id: "" });
    expect(collectViolations(() => decodeParams("DeleteTaskPushNotificationConfig", { id: "t" }))).toEqual({
      pushNotificationConfigId: "is required",
    });
    expect(decodeParams("ListTaskPushNotificationConfigs", { id: "t" })).toMatchObject({ taskId: "t" });
  });
});

describe("a request of 0.3's proto", () => {
  const message = { messageId: "m-1", role: "ROLE_USER", content: [{ text: "hello" }] };

  it("has a message with content under either name [V-14, V-23]", () => {
    for (const request of [{ message }, { request: message }, { request: { ...message, role: 1 } }]) {
      expect(protoJsonCodec.decodeParams("SendMessage", request)).toEqual({ message: decodedHello });
    }
    expect(
      collectViolations(() => protoJsonCodec.decodeParams("SendMessage", { message, request: message })),
    ).toEqual({
      message: "is present twice, as message and as request; send only one",
    });
    const bad = { message: { ...message, content: [{ data: 1 }] } };
    expect(collectViolations(() => protoJsonCodec.decodeParams("SendMessage", bad))).toEqual({
      "message.content[0].data": "must be an object with named members, not 1",
    });
  });

  it("has files and data in their own messages [V-23]", () => {
    const content = [
      { file: { fileWithBytes: "AA==", mimeType: "image/png", name: "a.png" } },
      { file: { file_with_uri: "https://example.com/a" } },
      { data: { data: { a: 1 } } },
    ];
    expect(
      protoJsonCodec.decodeParams("SendMessage", { message: { ...message, content } }).message.parts,
    ).toEqual([
      { raw: "AA==", mediaType: "image/png", filename: "a.png" },
      { url: "https://example.com/a" },
      { data: { a: 1 } },
    ]);
  });

  it("treats 0 and false as not set [V-09, V-23]", () => {
    const configured = (configuration?: object): unknown =>
      protoJsonCodec.decodeParams("SendMessage", { message, ...(configuration ? { configuration } : {}) })
        .configuration;
    const taskPushNotificationConfig = { url: "https://example.com" };
    expect(
      configured({ historyLength: 0, blocking: true, pushNotification: taskPushNotificationConfig }),
    ).toEqual({ taskPushNotificationConfig });
    expect(configured({ historyLength: 2 })).toEqual({ historyLength: 2, returnImmediately: true });
    expect(configured({})).toEqual({ returnImmediately: true });
    expect(configured()).toBeUndefined();
    expect(protoJsonCodec.decodeParams("GetTask", { name: "tasks/t", historyLength: 0 })).toEqual({
      id: "t",
    });
  });

  it.each([
    ["GetTask", { name: "tasks/a/b" }, { id: "a/b" }],
    ["CancelTask", { name: "tasks/t" }, { id: "t" }],
    [
      "GetTaskPushNotificationConfig",
      { name: "tasks/a/b/pushNotificationConfigs/c" },
      { taskId: "a/b", id: "c" },
    ],
    [
      "DeleteTaskPushNotificationConfig",
      { name: "tasks/t/pushNotificationConfigs/c" },
      { taskId: "t", id: "c" },
    ],
    ["ListTaskPushNotificationConfigs", { parent: "tasks/t", pageSize: 5 }, { taskId: "t", pageSize: 5 }],
    [
      "CreateTaskPushNotificationConfig",
      {
        parent: "tasks/t",
        configId: "c",
        config: { pushNotificationConfig: { url: "https://example.com" } },
      },
      { taskId: "t", id: "c", url: "https://example.com" },
    ],
  ] as const)("identifies the target of %s [V-23]", (operation, request, expected) => {
    expect(protoJsonCodec.decodeParams(operation, request)).toEqual(expected);
  });

  it.each([
    ["GetTask", { name: "t" }, { name: "must be tasks/{task id}" }],
    ["GetTask", { name: "tasks/" }, { name: "must be tasks/{task id}" }],
    [
      "GetTaskPushNotificationConfig",
      { name: "tasks/t" },
      { name: "must be tasks/{task id}/pushNotificationConfigs/{configuration id}" },
    ],
    ["CreateTaskPushNotificationConfig", {}, { parent: "is required", config: "is required" }],
  ] as const)("of %s is rejected without a resource name [V-23]", (operation, request, expected) => {
    expect(collectViolations(() => protoJsonCodec.decodeParams(operation, request))).toEqual(expected);
  });
});

describe("a request of 0.3 over HTTP+JSON", () => {
  const params = (
    operation: OperationName,
    path: Record<string, string>,
    { query = "", body }: { query?: string; body?: unknown } = {},
  ): unknown =>
    restDialect.decodeParams(
      operation,
      restDialect.collectParams(operation, path, new URLSearchParams(query), body),
    );

  it("is decoded by the form of its message [V-14]", () => {
    for (const message of [
      hello,
      { messageId: "m-1", role: "user", parts: [{ text: "hello" }] },
      { messageId: "m-1", role: "ROLE_USER", content: [{ text: "hello" }] },
      { message_id: "m-1", role: "ROLE_USER", content: [{ text: "hello" }] },
    ]) {
      expect(params("SendMessage", {}, { body: { message } })).toEqual({ message: decodedHello });
    }
    expect(collectViolations(() => params("SendMessage", {}, { body: {} }))).toEqual({
      message: "is required",
    });
    expect(collectViolations(() => params("SendMessage", {}, { body: undefined }))).toEqual({
      params: "must be an object with named members, not nothing",
    });
  });

  it("has ids in the path and the history length in the query [V-13]", () => {
    expect(params("GetTask", { id: "t" }, { query: "historyLength=0" })).toEqual({
      id: "t",
      historyLength: 0,
    });
    expect(params("GetTask", { id: "t" })).toEqual({ id: "t" });
    expect(
      collectViolations(() => params("GetTask", { id: "t" }, { query: "historyLength=x" })),
    ).toHaveProperty("historyLength");
    expect(params("CancelTask", { id: "t" })).toEqual({ id: "t" });
    expect(params("CancelTask", { id: "t" }, { body: { metadata: { a: 1 } } })).toEqual({
      id: "t",
      metadata: { a: 1 },
    });
    expect(params("DeleteTaskPushNotificationConfig", { taskId: "t", id: "c" })).toEqual({
      taskId: "t",
      id: "c",
    });
  });

  it("accepts a push configuration in the three forms that clients send [V-13]", () => {
    const config = { url: "https://example.com" };
    for (const [body, id] of [
      [{ parent: "tasks/t", configId: "c", config: { pushNotificationConfig: config } }, "c"],
      [{ config: { push_notification_config: { ...config, id: "d" } } }, "d"],
      [{ name: "", pushNotificationConfig: config }, "default"],
      [{ taskId: "t", pushNotificationConfig: config }, "default"],
    ] as const) {
      expect(params("CreateTaskPushNotificationConfig", { taskId: "t" }, { body })).toEqual({
        taskId: "t",
        ...config,
        id,
      });
    }
    const contrary = { taskId: "other", pushNotificationConfig: config };
    expect(
      collectViolations(() =>
        params("CreateTaskPushNotificationConfig", { taskId: "t" }, { body: contrary }),
      ),
    ).toHaveProperty("taskId");
    expect(
      collectViolations(() => params("CreateTaskPushNotificationConfig", { taskId: "t" }, { body: {} })),
    ).toEqual({
      pushNotificationConfig: "is required",
    });
  });
});
