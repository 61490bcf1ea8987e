import { describe, expect, it } from "vitest";
import {
  messageCommandTestAgent,
  readServerSentTestEvents,
  type TestEndpoint,
  type TestServerFactory,
  type JsonRpcTestResponse,
  type TestClient,
} from "../server.fixture.ts";

const JSON_TEST_REQUEST_HEADERS = { "content-type": "application/json" };

/** Defines the tests of A2A 0.3 for one kind of endpoint. */
export function defineV03Contract(visit: TestClient, open: TestServerFactory): void {
  let count = 0;
  const say = (text: string, more: object = {}): object => ({
    kind: "message",
    messageId: `o${++count}`,
    role: "user",
    parts: [{ kind: "text", text }],
    ...more,
  });
  const send = (
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
    endpoint: TestEndpoint = visit.endpoint,
  ): Promise<Response> =>
    endpoint.send(path, {
      method: "POST",
      headers: { ...JSON_TEST_REQUEST_HEADERS, ...headers },
      body: JSON.stringify(body),
    });
  const call = (method: string, params?: object, path = "/"): Promise<Response> =>
    send(path, { jsonrpc: "2.0", id: 3, method, ...(params ? { params } : {}) });
  const rpc = async (method: string, params?: object, path?: string): Promise<JsonRpcTestResponse> =>
    (await (await call(method, params, path)).json()) as JsonRpcTestResponse;
  const taskFrom = async (text: string): Promise<{ id: string; contextId: string }> =>
    (await rpc("message/send", { message: say(text) })).result as unknown as {
      id: string;
      contextId: string;
    };

  describe("A2A 0.3 over JSON-RPC", () => {
    it("returns plain tasks with a kind [V-01, V-02, V-05, A-07, B-05, B-06]", async () => {
      const { result } = await rpc("message/send", { message: say("echo hello") });
      expect(result).toMatchObject({
        kind: "task",
        status: { state: "completed" },
        artifacts: [{ parts: [{ kind: "text", text: "hello" }] }],
        history: [{ kind: "message", role: "user", parts: [{ kind: "text", text: "echo hello" }] }],
      });
      const { id } = result as unknown as { id: string };
      expect((await rpc("tasks/get", { id, historyLength: 0 })).result).not.toHaveProperty("history");
      const waiting = await taskFrom("ask");
      expect((await rpc("tasks/cancel", { id: waiting.id })).result).toMatchObject({
        kind: "task",
        status: { state: "canceled" },
      });
    });

    it("streams plain events, the last one with final [V-03, V-04, V-18]", async () => {
      const events = await readServerSentTestEvents(
        await call("message/stream", { message: say("chunks 2") }),
      );
      const results = events.map(({ data }) => (data as JsonRpcTestResponse).result);
      expect(results.map((result) => [result?.["kind"], result?.["final"]])).toEqual([
        ["task", undefined],
        ["status-update", false],
        ["artifact-update", undefined],
        ["status-update", true],
      ]);
    });

    it("ends a stream when the agent asks, and continues with the next message [V-04]", async () => {
      const questionEvents = await readServerSentTestEvents(
        await call("message/stream", { message: say("ask") }),
      );
      const [last] = questionEvents.map(({ data }) => (data as JsonRpcTestResponse).result).slice(-1);
      expect(last).toMatchObject({ status: { state: "input-required" }, final: true });
      const followed = await readServerSentTestEvents(
        await call("message/stream", { message: say("echo yes", { taskId: last?.["taskId"] }) }),
      );
      const results = followed.map(({ data }) => (data as JsonRpcTestResponse).result);
      expect(results[0]).toMatchObject({ kind: "task", status: { state: "working" } });
      expect(results.at(-1)).toMatchObject({ status: { state: "completed" }, final: true });
    });

    it("uses the context of the task, whatever context the message names", async () => {
      const { id, contextId } = await taskFrom("ask");
      const sent = await rpc("message/send", {
        message: say("echo yes", { taskId: id, contextId: "other" }),
      });
      expect(sent.result).toMatchObject({ id, contextId, status: { state: "completed" } });
    });

    it("returns only the task for a resubscription to an inactive task [V-12]", async () => {
      for (const text of ["echo x", "ask"]) {
        const { id } = await taskFrom(text);
        const events = await readServerSentTestEvents(await call("tasks/resubscribe", { id }));
        expect(events.map(({ data }) => (data as JsonRpcTestResponse).result)).toMatchObject([
          { kind: "task", id },
        ]);
      }
    });

    it("returns a streaming error as an event [V-18]", async () => {
      for (const [method, params, code] of [
        ["tasks/resubscribe", { id: "nope" }, -32001],
        ["message/stream", { message: {} }, -32602],
      ] as const) {
        const response = await call(method, params);
        expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
        expect(await readServerSentTestEvents(response)).toMatchObject([
          { data: { id: 3, error: { code } } },
        ]);
      }
    });

    it("returns its own error codes [V-11, V-25, V-26]", async () => {
      const code = async (method: string, params: object): Promise<number | undefined> =>
        (await rpc(method, params)).error?.code;
      expect(await code("tasks/get", { id: "nope" })).toBe(-32001);
      expect(await code("tasks/pushNotificationConfig/get", { id: "nope" })).toBe(-32001);
      expect(await code("agent/getAuthenticatedExtendedCard", {})).toBe(-32007);
      expect(await code("tasks/list", {})).toBe(-32601);
      expect(await code("message/send", {})).toBe(-32602);
    });
  });

  it("stores push configurations in the 0.3 format, over both bindings [V-10, V-13, V-23]", async () => {
    const { endpoint } = await open(
      { parrot: messageCommandTestAgent },
      { store: "memory", push: { allowPrivate: true } },
    );
    const ask = async (method: string, params: object): Promise<unknown> =>
      (await send("/", { jsonrpc: "2.0", id: 1, method, params }, {}, endpoint)).json();
    const { result: task } = (await ask("message/send", { message: say("ask") })) as {
      result: { id: string };
    };
    const { id } = task;
    const named = (method: string, configId?: string): Promise<unknown> =>
      ask(`tasks/pushNotificationConfig/${method}`, {
        id,
        ...(configId ? { pushNotificationConfigId: configId } : {}),
      });
    const url = "http://127.0.0.1:9/hook";
    const first = { id: "one", url, token: "t", authentication: { schemes: ["Bearer"] } };
    const set = await ask("tasks/pushNotificationConfig/set", { taskId: id, pushNotificationConfig: first });
    const storedConfig = { taskId: id, pushNotificationConfig: first };
    expect(set).toMatchObject({ result: storedConfig });

    const config = { pushNotificationConfig: { id: "two", url } };
    const path = `/v1/tasks/${id}/pushNotificationConfigs`;
    const made = await send(path, { parent: `tasks/${id}`, configId: "two", config }, {}, endpoint);
    const second = { name: `tasks/${id}/pushNotificationConfigs/two`, ...config };
    expect(await made.json()).toEqual(second);
    expect(await (await endpoint.send(`${path}/two`)).json()).toEqual(second);
    expect(await (await endpoint.send(path)).json()).toMatchObject({ configs: [{}, second] });

    expect(await named("get", "one")).toMatchObject({ result: storedConfig });
    expect(await named("get")).toMatchObject({ result: storedConfig });
    const other = { taskId: id, pushNotificationConfig: { id: "two", url } };
    expect(await named("list")).toMatchObject({ result: [storedConfig, other] });
    expect(await named("delete", "one")).toMatchObject({ result: null });
    expect((await endpoint.send(`${path}/two`, { method: "DELETE" })).status).toBe(200);
    expect(await named("list")).toMatchObject({ result: [] });
    expect(await named("get")).toMatchObject({ error: { code: -32001 } });
    await endpoint.close();
  });

  it("can be inferred from the form of a request [B-07]", async () => {
    const { endpoint } = await open(
      { parrot: messageCommandTestAgent },
      { store: "memory", missingVersionPolicy: "infer" },
    );
    const call = async (method: string, message: object): Promise<unknown> =>
      (await send("/", { jsonrpc: "2.0", id: 1, method, params: { message } }, {}, endpoint)).json();
    const newer = { messageId: "n1", role: "ROLE_USER", parts: [{ text: "echo x" }] };
    expect(await call("SendMessage", newer)).toMatchObject({ result: { task: {} } });
    expect(await call("message/send", say("echo x"))).toMatchObject({ result: { kind: "task" } });
    expect((await endpoint.send("/tasks")).status).toBe(200);
    expect((await send("/v1/message:send", { message: say("echo x") }, {}, endpoint)).status).toBe(200);
    await endpoint.close();
  });

  it("returns 0.3 errors for requests that are rejected before parsing [V-16, V-25, V-26]", async () => {
    const denyAllOptions = { store: "memory", authenticate: () => undefined } as const;
    const { endpoint } = await open({ parrot: messageCommandTestAgent }, denyAllOptions);
    const over = (path: string, headers: Record<string, string>, body: string, to = visit.endpoint) =>
      to.send(path, { method: "POST", headers, body });
    const refusals: [headers: Record<string, string>, body: string, endpoint?: TestEndpoint][] = [
      [JSON_TEST_REQUEST_HEADERS, "{"],
      [{ "content-type": "text/plain" }, "{}"],
      [JSON_TEST_REQUEST_HEADERS, "{}", endpoint],
    ];
    for (const [headers, body, to] of refusals) {
      const older = await over("/v1/message:send", headers, body, to);
      expect(await older.json()).toMatchObject({ code: expect.any(Number) as unknown, error: {} });
      const newer = await over("/message:send", { ...headers, "a2a-version": "1.0" }, body, to);
      expect(Object.keys((await newer.json()) as object)).toEqual(["error"]);
    }
    const older = (await (await over("/", JSON_TEST_REQUEST_HEADERS, "[]")).json()) as JsonRpcTestResponse;
    expect(Object.keys(older.error ?? {})).toEqual(["code", "message"]);
    const newer = (await (
      await over("/", { ...JSON_TEST_REQUEST_HEADERS, "a2a-version": "1.0" }, "[]")
    ).json()) as JsonRpcTestResponse;
    expect(newer.error?.data).toBeDefined();
    const nowhere = await visit.endpoint.send("/v1/nowhere");
    expect(await nowhere.json()).toMatchObject({ type: "NotFoundError", code: -32000 });
    await endpoint.close();
  });

  it("completes a message without an id when configured, also with the simple dialect", async () => {
    const { endpoint } = await open(
      { parrot: messageCommandTestAgent },
      { store: "memory", autoMessageId: true },
    );
    const ask = async (params: object): Promise<JsonRpcTestResponse> =>
      (await send("/", { jsonrpc: "2.0", id: 1, method: "message/send", params }, {}, endpoint).then(
        (response) => response.json(),
      )) as JsonRpcTestResponse;
    const message = { role: "user", parts: [{ kind: "text", text: "echo x" }] };
    expect((await ask({ message })).result).toMatchObject({ kind: "task" });
    expect((await ask({ message, messageId: "beside" })).result).toMatchObject({ status: "completed" });
    expect((await ask({ message, thread: { threadId: "t" } })).result).toMatchObject({ status: "completed" });
    await endpoint.close();
  });

  describe("A2A 0.3 over HTTP+JSON", () => {
    it("accepts messages in both forms and returns the proto form [V-13, V-14, V-15, A-07]", async () => {
      const shapes = [
        { message: say("echo hello") },
        { message: { messageId: "p1", role: "ROLE_USER", content: [{ text: "echo hello" }] } },
        { request: { message_id: "p2", role: "ROLE_USER", content: [{ text: "echo hello" }] } },
      ];
      for (const shape of shapes) {
        const response = await send("/v1/message:send", shape);
        expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
        expect(await response.json()).toMatchObject({
          task: {
            status: { state: "TASK_STATE_COMPLETED" },
            artifacts: [{ parts: [{ text: "hello" }] }],
            history: [{ role: "ROLE_USER", content: [{ text: "echo hello" }] }],
          },
        });
      }
    });

    it("streams, subscribes, and cancels [V-04, V-12, V-13]", async () => {
      const events = await readServerSentTestEvents(
        await send("/v1/message:stream", { message: say("ask") }),
      );
      const last = events.at(-1)?.data as { statusUpdate: { taskId: string } };
      expect(last).toMatchObject({
        statusUpdate: { status: { state: "TASK_STATE_INPUT_REQUIRED" }, final: true },
      });
      const { taskId } = last.statusUpdate;
      const followed = await readServerSentTestEvents(
        await visit.endpoint.send(`/v1/tasks/${taskId}:subscribe`),
      );
      expect(followed.map(({ data }) => data)).toMatchObject([{ task: { id: taskId } }]);
      const canceled = await send(`/v1/tasks/${taskId}:cancel`, {});
      expect(await canceled.json()).toMatchObject({ status: { state: "TASK_STATE_CANCELLED" } });
    });

    it("returns errors as code and message [V-16, V-25]", async () => {
      const response = await visit.endpoint.send("/v1/tasks/nope");
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ code: -32001, message: expect.any(String) as unknown });
      expect((await visit.endpoint.send("/v1/tasks")).status).toBe(404);
    });

    it("routes the path to the tenant v1 for 1.0 requests [B-06]", async () => {
      const headers = { ...JSON_TEST_REQUEST_HEADERS, "a2a-version": "1.0" };
      const body = { message: { messageId: "t1", role: "ROLE_USER", parts: [{ text: "echo x" }] } };
      const sent = (await (await send("/v1/message:send", body, headers)).json()) as { task: { id: string } };
      expect((await visit.endpoint.send(`/v1/tasks/${sent.task.id}`, { headers })).status).toBe(200);
      expect((await visit.endpoint.send(`/v1/tasks/${sent.task.id}`)).status).toBe(404);
    });
  });
}
