import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  listViolatedFields,
  createValidMessage,
  startTestEndpoint,
  findErrorReason,
  requireTask,
  type TestEndpoint,
} from "./test-endpoint.ts";

describe("an invalid HTTP+JSON request", () => {
  let endpoint: TestEndpoint;
  beforeAll(async () => {
    endpoint = await startTestEndpoint({ limits: { maxBodyBytes: 1024 * 1024 } });
  });
  afterAll(() => endpoint.server.close());

  it.each([
    ["GET", "/nothing"],
    ["GET", "/tasks/"],
    ["GET", "/tasks/a/b"],
    ["POST", "/tasks/a:explode"],
    ["POST", "/message:shout"],
    ["POST", "/message:"],
    ["GET", "/tasks/%zz"],
    ["GET", "/tasks/%ff"],
    ["GET", "//tasks"],
    ["GET", "/../tasks:"],
    ["GET", "/__proto__"],
  ])("is answered 404 in JSON: %s %s [D-03, D-09]", async (method, path) => {
    const { status, body } = await endpoint.callRest(method, path);
    expect({ status, error: body.error }).toMatchObject({
      status: 404,
      error: { code: 404, status: "NOT_FOUND" },
    });
    await endpoint.assertStillAnswers();
  });

  it("is answered 404 for an unknown agent [D-09]", async () => {
    for (const path of ["unknown", "unknown/tasks", "unknown/.well-known/agent-card.json", "%zz/tasks"]) {
      const response = await fetch(new URL(`/a2a/${path}`, endpoint.url), {
        headers: { "a2a-version": "1.0" },
      });
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { status: "NOT_FOUND" } });
    }
  });

  it.each([
    ["GET", "/message:send", "POST"],
    ["DELETE", "/tasks/a", "GET"],
    ["PUT", "/tasks", "GET"],
    ["GET", "/tasks/a:cancel", "POST"],
    ["PATCH", "/tasks/a:subscribe", "POST, GET"],
    ["POST", "/extendedAgentCard", "GET"],
    ["POST", "/.well-known/agent-card.json", "GET, HEAD"],
  ])("is answered 405 with what is allowed: %s %s [D-09]", async (method, path, allow) => {
    const { status, headers, body } = await endpoint.callRest(method, path);
    expect({ status, allow: headers.get("allow") }).toEqual({ status: 405, allow });
    expect(body.error).toMatchObject({ code: 405 });
    await endpoint.assertStillAnswers();
  });

  it.each([
    ["half an object", `{"message":`],
    ["words", "hello"],
    ["a byte order mark", "\uFEFF{}"],
  ])("is answered 400 when its body is %s [D-04]", async (_, body) => {
    const answer = await endpoint.callRest("POST", "/message:send", body);
    expect({ status: answer.status, error: answer.body.error }).toMatchObject({
      status: 400,
      error: { code: 400, status: "INVALID_ARGUMENT" },
    });
    await endpoint.assertStillAnswers();
  });

  it.each([`[]`, `"text"`, `5`, `null`, ``])(
    "is answered 400 if its body is not an object: %s [D-04]",
    async (body) => {
      const answer = await endpoint.callRest("POST", "/message:send", body);
      expect(answer.status).toBe(400);
      expect(answer.body.error?.status).toBe("INVALID_ARGUMENT");
      await endpoint.assertStillAnswers();
    },
  );

  it("is answered 413 when it is too large [M-08, E14]", async () => {
    const { status, body } = await endpoint.callRest("POST", "/message:send", "x".repeat(1024 * 1024 + 1));
    expect(status).toBe(413);
    expect(body.error?.code).toBe(413);
    await endpoint.assertStillAnswers();
  });

  it("is refused by its Content-Type [C-11, D-01, D-05]", async () => {
    const body = { message: createValidMessage() };
    const refused = await endpoint.callRest("POST", "/message:send", body, { "content-type": "text/plain" });
    expect(refused.status).toBe(400);
    expect(findErrorReason(refused.body)).toBe("CONTENT_TYPE_NOT_SUPPORTED");
    for (const type of ["application/json", "application/a2a+json; charset=utf-8"]) {
      const taken = await endpoint.callRest("POST", "/message:send", body, { "content-type": type });
      expect(taken.status).toBe(200);
      expect(taken.headers.get("content-type")).toBe("application/a2a+json");
    }
  });

  it("may have an empty body to cancel and to subscribe [D-08]", async () => {
    for (const verb of ["cancel", "subscribe"]) {
      const { status, body } = await endpoint.callRest("POST", `/tasks/none:${verb}`, "", {
        "content-type": "application/json",
      });
      expect({ status, reason: findErrorReason(body) }).toEqual({ status: 404, reason: "TASK_NOT_FOUND" });
    }
  });
});

describe("an operation that cannot be performed", () => {
  let endpoint: TestEndpoint;
  let done: string;
  beforeAll(async () => {
    endpoint = await startTestEndpoint();
    const { body } = await endpoint.callJsonRpc("SendMessage", { message: createValidMessage() });
    done = requireTask(body).id;
  });
  afterAll(() => endpoint.server.close());

  const push = { taskId: "none", id: "c", url: "https://example.com/hook" };
  const onDone = (): object => ({ message: { ...createValidMessage(), taskId: done } });
  const CASES: readonly {
    what: string;
    rpc: () => [method: string, params: object];
    rest: () => [method: string, path: string, body?: unknown];
    expected: { code: number; status: number; grpc: string; reason: string };
  }[] = [
    ...["GetTask", "CancelTask", "SubscribeToTask"].map((operation) => ({
      what: `${operation} of an unknown task [F-30, F-41, F-51]`,
      rpc: (): [string, object] => [operation, { id: "none" }],
      rest: (): [string, string] =>
        operation === "GetTask"
          ? ["GET", "/tasks/none"]
          : ["POST", `/tasks/none:${operation === "CancelTask" ? "cancel" : "subscribe"}`],
      expected: { code: -32001, status: 404, grpc: "NOT_FOUND", reason: "TASK_NOT_FOUND" },
    })),
    {
      what: "a message to an unknown task [F-04]",
      rpc: () => ["SendMessage", { message: { ...createValidMessage(), taskId: "none" } }],
      rest: () => ["POST", "/message:send", { message: { ...createValidMessage(), taskId: "none" } }],
      expected: { code: -32001, status: 404, grpc: "NOT_FOUND", reason: "TASK_NOT_FOUND" },
    },
    {
      what: "cancelling a finished task [F-41]",
      rpc: () => ["CancelTask", { id: done }],
      rest: () => ["POST", `/tasks/${done}:cancel`],
      expected: { code: -32002, status: 400, grpc: "FAILED_PRECONDITION", reason: "TASK_NOT_CANCELABLE" },
    },
    {
      what: "a message to a finished task [F-05]",
      rpc: () => ["SendMessage", onDone()],
      rest: () => ["POST", "/message:send", onDone()],
      expected: { code: -32004, status: 400, grpc: "FAILED_PRECONDITION", reason: "UNSUPPORTED_OPERATION" },
    },
    {
      what: "a stream to a finished task, before any stream [F-05, C-12]",
      rpc: () => ["SendStreamingMessage", onDone()],
      rest: () => ["POST", "/message:stream", onDone()],
      expected: { code: -32004, status: 400, grpc: "FAILED_PRECONDITION", reason: "UNSUPPORTED_OPERATION" },
    },
    {
      what: "subscribing to a finished task [F-51]",
      rpc: () => ["SubscribeToTask", { id: done }],
      rest: () => ["GET", `/tasks/${done}:subscribe`],
      expected: { code: -32004, status: 400, grpc: "FAILED_PRECONDITION", reason: "UNSUPPORTED_OPERATION" },
    },
    {
      what: "the extended card [A-31, H-03]",
      rpc: () => ["GetExtendedAgentCard", {}],
      rest: () => ["GET", "/extendedAgentCard"],
      expected: { code: -32004, status: 400, grpc: "FAILED_PRECONDITION", reason: "UNSUPPORTED_OPERATION" },
    },
    ...(
      [
        ["CreateTaskPushNotificationConfig", "POST", "/tasks/none/pushNotificationConfigs", push],
        ["GetTaskPushNotificationConfig", "GET", "/tasks/none/pushNotificationConfigs/c", undefined],
        ["ListTaskPushNotificationConfigs", "GET", "/tasks/none/pushNotificationConfigs", undefined],
        ["DeleteTaskPushNotificationConfig", "DELETE", "/tasks/none/pushNotificationConfigs/c", undefined],
      ] as const
    ).map(([operation, method, path, body]) => ({
      what: `${operation}, even of an unknown task [H-01]`,
      rpc: (): [string, object] => [operation, push],
      rest: (): [string, string, unknown] => [method, path, body],
      expected: {
        code: -32003,
        status: 400,
        grpc: "FAILED_PRECONDITION",
        reason: "PUSH_NOTIFICATION_NOT_SUPPORTED",
      },
    })),
    {
      what: "a message with a push configuration in it [F-13]",
      rpc: () => ["SendMessage", createInlinePushRequest()],
      rest: () => ["POST", "/message:send", createInlinePushRequest()],
      expected: {
        code: -32003,
        status: 400,
        grpc: "FAILED_PRECONDITION",
        reason: "PUSH_NOTIFICATION_NOT_SUPPORTED",
      },
    },
  ];

  it.each(CASES)(
    "is refused alike in both bindings: $what [1.L, D-03, D-05]",
    async ({ rpc, rest, expected }) => {
      const { code, status, grpc, reason } = expected;
      const overRpc = await endpoint.callJsonRpc(...rpc());
      expect({ status: overRpc.status, code: overRpc.body.error?.code }).toEqual({ status: 200, code });
      const overRest = await endpoint.callRest(...rest());
      expect({ status: overRest.status, error: overRest.body.error }).toMatchObject({
        status,
        error: { code: status, status: grpc },
      });
      const info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason,
        domain: "a2a-protocol.org",
      };
      expect(overRpc.body.error?.data).toContainEqual(expect.objectContaining(info));
      expect(overRest.body.error?.details).toContainEqual(expect.objectContaining(info));
      await endpoint.assertStillAnswers();
    },
  );

  it("is refused as a bad parameter when the context is not the task's [F-07]", async () => {
    const question = await endpoint.callJsonRpc("SendMessage", {
      message: { ...createValidMessage(), parts: [{ text: "ask" }] },
    });
    const { id } = requireTask(question.body);
    const message = { ...createValidMessage(), taskId: id, contextId: "another" };
    const { body } = await endpoint.callJsonRpc("SendMessage", { message });
    expect(listViolatedFields(body)).toEqual(["message.contextId"]);
    expect(body.error?.code).toBe(-32602);
  });
});

function createInlinePushRequest(): object {
  const taskPushNotificationConfig = { url: "https://example.com/hook" };
  return { message: createValidMessage(), configuration: { taskPushNotificationConfig } };
}
