import { describe, expect, it } from "vitest";
import type { Agent } from "../../engine/index.ts";
import {
  buildTestMessage,
  messageCommandTestAgent,
  type TestServerFactory,
  type TestClient,
} from "../server.fixture.ts";

const JSON_TEST_REQUEST_HEADERS = { "content-type": "application/json" };

interface NamedSseTestEvent {
  name: string | undefined;
  id: number | undefined;
  data: Record<string, unknown>;
}

/** Reads a complete stream and returns its named server-sent events. */
async function readNamedSseTestEvents(response: Response): Promise<NamedSseTestEvent[]> {
  const frames = (await response.text()).split("\n\n").filter((frame) => frame.includes("data: "));
  return frames.map((frame) => {
    const id = /^id: (\d+)$/m.exec(frame)?.[1];
    return {
      name: /^event: (.*)$/m.exec(frame)?.[1],
      id: id === undefined ? undefined : Number(id),
      data: JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? "null") as Record<string, unknown>,
    };
  });
}

/** Defines the tests of the simple dialect for one kind of endpoint. */
export function defineSimpleDialectContract(visit: TestClient, open: TestServerFactory): void {
  interface SimpleRpcResponse {
    id: unknown;
    result: Record<string, unknown> & { taskId: string; status: string; artifacts: unknown[] };
    error?: { code: number; message: string };
  }

  const post = (
    method: string,
    params: object,
    headers: object = {},
    path = "/a2a/parrot",
  ): Promise<Response> =>
    visit.endpoint.send(path, {
      method: "POST",
      headers: { ...JSON_TEST_REQUEST_HEADERS, ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: "req_1", method, params }),
    });
  const rpc = async (...args: Parameters<typeof post>): Promise<SimpleRpcResponse> =>
    (await (await post(...args)).json()) as SimpleRpcResponse;
  const create = async (query: string): Promise<string> =>
    (await rpc("tasks/create", { skill: "repeat", input: { query } })).result.taskId;
  const events = (taskId: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> =>
    visit.endpoint.send(`/a2a/parrot/tasks/${taskId}/events`, { method, headers });
  const say = (text: string): object => ({ role: "user", parts: [{ kind: "text", text }] });

  describe("the simple dialect", () => {
    it("creates a task at once, and returns it with its skill, input, and output", async () => {
      const input = { query: "echo hello", depth: "deep" };
      const { id, result } = await rpc("tasks/create", { skill: "web_research", input });
      expect(id).toBe("req_1");
      expect(result).toMatchObject({ agentId: "parrot", skill: "web_research", input, status: "pending" });
      await readNamedSseTestEvents(await events(result.taskId));
      const seen = await rpc("tasks/get", { taskId: result.taskId });
      expect(seen.result).toMatchObject({
        taskId: result.taskId,
        agentId: "parrot",
        skill: "web_research",
        input,
        status: "completed",
        artifacts: [{ artifactId: "a", parts: [{ kind: "text", text: "hello" }] }],
      });
      expect(seen.result["createdAt"]).toBe(result["createdAt"]);
      expect(Number.isNaN(Date.parse(String(seen.result["updatedAt"])))).toBe(false);
    });

    it("returns a created task while its agent is running", async () => {
      const taskId = await create("wait");
      const { result } = await rpc("tasks/get", { taskId });
      expect(["pending", "running"]).toContain(result.status);
      // The same task is available over 0.3, which can cancel it.
      const canceled = await rpc("tasks/cancel", { id: taskId });
      expect(canceled.result).toMatchObject({ id: taskId });
      expect((await rpc("tasks/get", { taskId })).result.status).toBe("cancelled");
      expect((await readNamedSseTestEvents(await events(taskId))).at(-1)).toMatchObject({
        name: "done",
        data: { type: "done", status: "cancelled" },
      });
    });

    it("streams all events of a task, also to late subscribers", async () => {
      const taskId = await create("chunks 3");
      const response = await events(taskId);
      expect(response.headers.get("content-type")).toBe("text/event-stream");
      const first = await readNamedSseTestEvents(response);
      expect(first.map(({ name }) => name)).toEqual(
        ["artifact", "artifact", "artifact", "done"].slice(-first.length),
      );
      expect(first.at(-1)).toMatchObject({
        name: "done",
        data: { type: "done", status: "completed", taskId },
      });
      const again = await readNamedSseTestEvents(await events(taskId));
      expect(again).toEqual(first);
      const last = again.at(-1)?.id ?? 0;
      expect(
        (await readNamedSseTestEvents(await events(taskId, { "last-event-id": String(last - 1) }))).map(
          ({ name }) => name,
        ),
      ).toEqual(["done"]);
      expect(await readNamedSseTestEvents(await events(taskId, { "last-event-id": String(last) }))).toEqual(
        [],
      );
    });

    it("returns a failure as an error", async () => {
      const streamedEvents = await readNamedSseTestEvents(await events(await create("throw")));
      expect(streamedEvents.at(-1)).toMatchObject({
        name: "error",
        data: { type: "error", status: "failed" },
      });
      expect(JSON.stringify(streamedEvents)).not.toContain("secret");
    });

    it("accepts a message without an id, and returns the task", async () => {
      const sent = await rpc("message/send", {
        message: say("echo hi"),
        messageId: "msg_123",
        thread: { threadId: "thread_abc" },
      });
      expect(sent.result).toMatchObject({
        status: "completed",
        thread: { threadId: "thread_abc" },
        artifacts: [{ parts: [{ kind: "text", text: "hi" }] }],
      });
      expect(sent.result).not.toHaveProperty("kind");
      expect(sent.result).not.toHaveProperty("skill");
    });

    it("continues a task that waits for input", async () => {
      const question = await rpc("message/send", { message: say("ask") });
      expect(question.result).toMatchObject({
        status: "running",
        waitingFor: "input",
        message: { role: "agent", parts: [{ kind: "text", text: "what?" }] },
      });
      const { taskId } = question.result;
      const answered = await rpc("message/send", { message: say("echo that"), taskId });
      expect(answered.result).toMatchObject({ taskId, status: "completed" });
    });

    it("ends the event stream of a task when the task waits for input", async () => {
      const taskId = await create("ask");
      const question = await readNamedSseTestEvents(await events(taskId));
      expect(question).toMatchObject([
        { name: "message", data: { role: "agent", parts: [{ text: "what?" }], taskId } },
        { name: "done", data: { type: "done", status: "running", waitingFor: "input", taskId } },
      ]);
      expect(await readNamedSseTestEvents(await events(taskId))).toEqual(question);
      await rpc("message/send", { message: say("echo that"), taskId });
      // The question is answered, so the stream continues after the question.
      const answered = await readNamedSseTestEvents(await events(taskId));
      expect(answered.map(({ name }) => name)).toEqual(["message", "artifact", "done"]);
      expect(answered.at(-1)?.data).toMatchObject({ status: "completed" });
      const lastEventId = { "last-event-id": String(question.at(-1)?.id) };
      expect(await readNamedSseTestEvents(await events(taskId, lastEventId))).toEqual(answered.slice(1));
    });

    it("streams named events without an envelope", async () => {
      const response = await post(
        "message/stream",
        { message: say("chunks 2") },
        { accept: "text/event-stream" },
      );
      expect(response.headers.get("content-type")).toBe("text/event-stream");
      const streamedEvents = await readNamedSseTestEvents(response);
      expect(streamedEvents.map(({ name }) => name).filter((name) => name !== "artifact")).toEqual(["done"]);
      expect(streamedEvents[0]).toMatchObject({
        name: "artifact",
        data: { artifactId: "a", parts: [{ kind: "text" }] },
      });
      expect(streamedEvents.at(-1)?.data).toMatchObject({ status: "completed" });
      const question = await readNamedSseTestEvents(await post("message/stream", { message: say("ask") }));
      expect(question.map(({ name }) => name)).toEqual(["message", "done"]);
      expect(question[0]?.data).toMatchObject({ role: "agent", parts: [{ kind: "text", text: "what?" }] });
    });

    it("rejects an unknown task with the code of the guide, and lists violations by path", async () => {
      const code = async (method: string, params: object): Promise<unknown> => {
        const response = await post(method, params);
        expect(response.headers.get("content-type")).toBe("application/json");
        return ((await response.json()) as SimpleRpcResponse).error?.code;
      };
      expect(await code("tasks/get", { taskId: "nope" })).toBe(-32004);
      expect(await code("tasks/create", { skill: "s" })).toBe(-32602);
      const streamed = await post("message/stream", { message: { role: "user", parts: [{ kind: "text" }] } });
      expect(await readNamedSseTestEvents(streamed)).toMatchObject([
        { name: "error", data: { type: "error", code: -32602 } },
      ]);
      const missing = await events("nope");
      expect([missing.status, await missing.json()]).toMatchObject([404, { error: { code: -32004 } }]);
      const wrong = await events("nope", {}, "POST");
      expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET"]);
    });

    it("hides a task from other callers [E13]", async () => {
      const taskId = await create("echo x");
      const path = "/a2a/silent";
      expect((await rpc("tasks/get", { taskId }, {}, path)).error?.code).toBe(-32004);
    });

    it("applies to requests that 0.3 does not define, and never to 1.0 requests", async () => {
      const { task } =
        (await visit.callJsonRpc("SendMessage", { message: buildTestMessage("echo x") })).result ?? {};
      const taskId = task?.id ?? "";
      expect((await rpc("tasks/get", { taskId })).result).toMatchObject({ taskId });
      expect((await rpc("tasks/get", { id: taskId })).result).toMatchObject({ id: taskId, kind: "task" });
      expect((await rpc("tasks/get", { id: "nope" })).error?.code).toBe(-32001);
      const v1 = { "a2a-version": "1.0" };
      expect((await rpc("tasks/create", { skill: "s", input: {} }, v1)).error?.code).toBe(-32601);
      expect((await rpc("tasks/get", { taskId }, v1)).error?.code).toBe(-32601);
      const response = await events(taskId, v1);
      expect([response.status, await response.json()]).toMatchObject([
        404,
        { error: { status: "NOT_FOUND" } },
      ]);
    });

    it("returns a task also for an agent that responds with a message", async () => {
      const greeter: Agent = {
        ...messageCommandTestAgent,
        respondsWith: "either",
        async *execute() {
          yield { message: { parts: [{ text: "hello" }] } };
        },
      };
      const { endpoint } = await open({ greeter }, { store: "memory" });
      const ask = async (method: string, params: object): Promise<Response> =>
        endpoint.send("/a2a/greeter", {
          method: "POST",
          headers: JSON_TEST_REQUEST_HEADERS,
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
        });
      const created = (await (
        await ask("tasks/create", { skill: "s", input: {} })
      ).json()) as SimpleRpcResponse;
      const streamedEvents = await readNamedSseTestEvents(
        await endpoint.send(`/a2a/greeter/tasks/${created.result.taskId}/events`),
      );
      expect(streamedEvents).toMatchObject([
        { name: "message", data: { role: "agent", parts: [{ kind: "text", text: "hello" }] } },
        { name: "done", data: { status: "completed" } },
      ]);
      const sent = (await (await ask("message/send", { message: say("hi") })).json()) as SimpleRpcResponse;
      expect(sent.result).toMatchObject({ role: "agent", parts: [{ kind: "text", text: "hello" }] });
      const streamed = await readNamedSseTestEvents(await ask("message/stream", { message: say("hi") }));
      expect(streamed.map(({ name }) => name)).toEqual(["message", "done"]);
      await endpoint.close();
    });

    it("serves the card of any agent at the root", async () => {
      const name = async (query: string): Promise<unknown> => {
        const response = await visit.endpoint.send(`/.well-known/agent-card.json${query}`);
        return response.ok ? ((await response.json()) as { name: string }).name : response.status;
      };
      expect(await name("?assistant_id=silent")).toBe("silent");
      expect(await name("?assistant_id=parrot")).toBe("parrot");
      expect(await name("?assistant_id=unknown")).toBe(404);
      expect(await name("?other=silent")).toBe("parrot");
    });

    it("can be disabled", async () => {
      const { endpoint } = await open(
        { parrot: messageCommandTestAgent, silent: messageCommandTestAgent },
        { store: "memory", simpleDialect: false },
      );
      const body = JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tasks/create",
        params: { skill: "s", input: {} },
      });
      const refused = await endpoint.send("/", { method: "POST", headers: JSON_TEST_REQUEST_HEADERS, body });
      expect(((await refused.json()) as SimpleRpcResponse).error?.code).toBe(-32601);
      expect((await endpoint.send("/tasks/nope/events")).status).toBe(404);
      await endpoint.close();
    });
  });
}
