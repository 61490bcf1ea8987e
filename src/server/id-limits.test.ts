import { describe, expect, it, onTestFinished } from "vitest";
import { Committer, Engine, systemClock } from "../engine/index.ts";
import { MemoryStore } from "../stores/index.ts";
import { JsonGrpcTestClient } from "./bindings/json-grpc-test-client.fixture.ts";
import { createServer, type ServerOptions } from "./index.ts";
import { buildTestMessage, messageCommandTestAgent, V1_JSON_TEST_HEADERS } from "./server.fixture.ts";

const HOSTILE_IDS = ["a".repeat(257), "a\nb", "\u001b[2Jx", "a\u0085", "a\u202eb", "a\u0000"];

async function startServer(options: ServerOptions = {}): Promise<{ url: string; grpc: JsonGrpcTestClient }> {
  const push = { allowPrivate: true };
  const server = createServer(messageCommandTestAgent, {
    store: "memory",
    observer: false,
    push,
    ...options,
  });
  onTestFinished(() => server.close({ graceMs: 50 }));
  const { url, grpc } = await server.listen({ grpc: true });
  const client = new JsonGrpcTestClient(grpc?.port ?? 0);
  onTestFinished(() => client.close());
  return { url, grpc: client };
}

async function callJson(url: string, path: string, body?: object, headers: object = {}): Promise<string> {
  const response = await fetch(url + path, {
    ...(body ? { method: "POST", body: JSON.stringify(body) } : {}),
    headers: { ...V1_JSON_TEST_HEADERS, ...headers },
  });
  return await response.text();
}

describe("an id", () => {
  it.each(HOSTILE_IDS)(
    "that is long or has control characters is refused in every binding: %j [SEC-22]",
    async (id) => {
      const { url, grpc } = await startServer();
      const reason = id.length > 256 ? "at most 256 characters" : "control characters";
      const message = buildTestMessage("echo hi");
      const webhook = { taskId: "t", url: "http://127.0.0.1:1/" };
      const requests: [method: string, params: object][] = [
        ["SendMessage", { message: { ...message, messageId: id } }],
        ["SendMessage", { message: { ...message, contextId: id } }],
        ["SendMessage", { message: { ...message, taskId: id } }],
        ["SendMessage", { message: { ...message, referenceTaskIds: ["t", id] } }],
        ["SendMessage", { message, tenant: id }],
        ["SendMessage", { message, configuration: { taskPushNotificationConfig: { ...webhook, id } } }],
        ["GetTask", { id }],
        ["CancelTask", { id }],
        ["CreateTaskPushNotificationConfig", { ...webhook, id }],
        ["GetTaskPushNotificationConfig", { taskId: id, id: "c" }],
      ];
      for (const [method, params] of requests) {
        const rpc = { jsonrpc: "2.0", id: 1, method, params };
        expect([method, params, await callJson(url, "/", rpc)]).toEqual([
          method,
          params,
          expect.stringContaining(reason),
        ]);
        const { ended } = await grpc.callUnary(method as "SendMessage", params);
        expect([method, ended]).toMatchObject([
          method,
          { code: "INVALID_ARGUMENT", message: expect.stringContaining(reason) as string },
        ]);
      }
      const path = encodeURIComponent(id);
      const old = { jsonrpc: "2.0", id: 1, method: "message/send" };
      const oldMessage = {
        kind: "message",
        messageId: id,
        role: "user",
        parts: [{ kind: "text", text: "hi" }],
      };
      for (const text of [
        await callJson(url, "/message:send", { message: { ...message, contextId: id } }),
        await callJson(url, `/tasks/${path}`),
        await callJson(url, `/${path}/tasks/t`),
        await callJson(url, "/", { ...old, params: { message: oldMessage } }, { "a2a-version": "0.3" }),
        await callJson(url, `/v1/tasks/${path}`, undefined, { "a2a-version": "0.3" }),
        await callJson(url, "/", { ...old, method: "tasks/get", params: { id } }, { "a2a-version": "0.3" }),
        await callJson(
          url,
          "/",
          { ...old, method: "tasks/get", params: { taskId: id } },
          { "a2a-version": "0.3" },
        ),
      ])
        expect(text).toContain(reason);
    },
  );

  it("of an artifact that is long or has control characters fails the task of its agent", async () => {
    const errors: unknown[] = [];
    const { url } = await startServer({ observer: { onError: ({ error }) => void errors.push(error) } });
    const server = createServer(
      {
        ...messageCommandTestAgent,
        async *execute() {
          yield { artifact: { artifactId: "a\u001b[2J", parts: [{ text: "hi" }] } };
        },
      },
      { store: "memory", observer: { onError: ({ error }) => void errors.push(error) } },
    );
    onTestFinished(() => server.close());
    const response = await server.fetch(
      new Request(`${url}/message:send`, {
        method: "POST",
        headers: V1_JSON_TEST_HEADERS,
        body: JSON.stringify({ message: buildTestMessage("hi") }),
      }),
    );
    expect(await response.text()).toContain("TASK_STATE_FAILED");
    expect(String(errors[0])).toContain("control characters");
  });

  it("of 256 characters is accepted", async () => {
    const { url } = await startServer();
    const contextId = "é".repeat(256);
    const message = { ...buildTestMessage("echo hi"), contextId };
    expect(await callJson(url, "/message:send", { message })).toContain(contextId);
  });

  it("of a context in an existing store stays readable if it is long", async () => {
    const store = new MemoryStore();
    const engine = new Engine({
      store,
      committer: new Committer(store, systemClock),
      agent: messageCommandTestAgent,
      agentId: "parrot",
    });
    const contextId = "long ".repeat(100);
    const message = { messageId: "m", role: "ROLE_USER" as const, parts: [{ text: "echo hi" }], contextId };
    const caller = { tenant: "", principal: "" };
    const sent = await engine.sendMessage({ message }, caller, { version: "1.0", extensions: [] });
    await engine.close(0);
    const { url } = await startServer({ store });
    const id = "task" in sent ? sent.task.id : "";
    expect(await callJson(url, `/tasks/${id}`)).toContain(contextId);
    expect(await callJson(url, `/tasks?contextId=${encodeURIComponent(contextId)}`)).toContain(id);
  });
});
