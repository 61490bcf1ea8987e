import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Task } from "../protocol/index.ts";
import { defineAgentCardContract } from "./card/agent-card.contract.ts";
import { defineCardFormatContract } from "./card/card-format.contract.ts";
import { defineExtensionsContract } from "./extensions.contract.ts";
import { defineInputModesContract } from "./input-modes.contract.ts";
import { defineJsonRpcContract } from "./bindings/json-rpc.contract.ts";
import { defineRestContract } from "./bindings/rest.contract.ts";
import { defineSimpleDialectContract } from "./bindings/simple-dialect.contract.ts";
import { defineV03Contract } from "./bindings/v0_3.contract.ts";
import {
  V1_JSON_TEST_HEADERS,
  buildTestMessage,
  messageCommandTestAgent,
  readServerSentTestEvents,
  V1_TEST_HEADERS,
  TestClient,
  type TestServerFactory,
  type JsonRpcTestResponse,
} from "./server.fixture.ts";

/** Defines the tests that every kind of endpoint must pass. */
export function defineServerContract(name: string, open: TestServerFactory): void {
  describe(`a server, through ${name}`, () => {
    const visit = new TestClient();
    const { callJsonRpc: rpc, createTask: taskFrom } = visit;

    beforeEach(() => visit.startServer(open));
    afterEach(() => visit.endpoint.close());

    defineAgentCardContract(visit);
    defineJsonRpcContract(visit);
    defineRestContract(visit);
    defineSimpleDialectContract(visit, open);
    defineV03Contract(visit, open);
    defineCardFormatContract(visit, open);
    defineExtensionsContract(open);
    defineInputModesContract(open);

    it("isolates the tasks of its agents [E13]", async () => {
      const { id } = await taskFrom("echo x");
      expect((await rpc("GetTask", { id }, {}, "/a2a/silent")).error?.code).toBe(-32001);
      expect((await rpc("ListTasks", {}, {}, "/a2a/silent")).result).toMatchObject({ totalSize: 0 });
      expect((await rpc("GetTask", { id }, {}, "/a2a/parrot")).result).toMatchObject({ id });
    });

    it("isolates tenants [E13, K-02]", async () => {
      const sent = await rpc("SendMessage", { message: buildTestMessage("echo x"), tenant: "a" });
      const id = sent.result?.task?.id;
      expect((await rpc("GetTask", { id, tenant: "a" })).result).toMatchObject({ id });
      expect((await rpc("GetTask", { id, tenant: "b" })).error?.code).toBe(-32001);
      expect((await rpc("GetTask", { id })).error?.code).toBe(-32001);
    });

    it("rejects a body that is too large, and continues to work [D-05, E14]", async () => {
      const small = await open(
        { parrot: messageCommandTestAgent },
        { store: "memory", limits: { maxBodyBytes: 1000 } },
      );
      const body = JSON.stringify({ message: buildTestMessage("x".repeat(2000)) });
      const response = await small.endpoint.send("/message:send", {
        method: "POST",
        headers: V1_JSON_TEST_HEADERS,
        body,
      });
      expect(response.status).toBe(413);
      expect(await response.text()).toContain("1,000 bytes");
      const next = await small.endpoint.send("/message:send", {
        method: "POST",
        headers: V1_JSON_TEST_HEADERS,
        body: JSON.stringify({ message: buildTestMessage("echo") }),
      });
      expect(next.status).toBe(200);
      await small.endpoint.close();
    });

    it("rejects a request with too many JSON values before it is parsed, and continues to work [SEC-21]", async () => {
      const small = await open(
        { parrot: messageCommandTestAgent },
        { store: "memory", limits: { maxJsonValues: 100 } },
      );
      const send = async (
        path: string,
        json: object,
        headers: Record<string, string> = {},
      ): Promise<number> => {
        const body = JSON.stringify(json);
        const init = { method: "POST", headers: { ...V1_JSON_TEST_HEADERS, ...headers }, body };
        return (await small.endpoint.send(path, init)).status;
      };
      const metadata = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`name${at}`, at]));
      const message = buildTestMessage("echo", { metadata });
      const envelope = { jsonrpc: "2.0", id: 1, params: { message } };
      expect(await send("/message:send", { message })).toBe(413);
      expect(await send("/message:send", { ...metadata, message: buildTestMessage("echo") })).toBe(413);
      expect(await send("/", { ...envelope, method: "SendMessage" })).toBe(413);
      expect(await send("/", { ...envelope, method: "message/send" }, { "a2a-version": "0.3" })).toBe(413);
      expect(await send("/message:send", { message: buildTestMessage("echo") })).toBe(200);
      await small.endpoint.close();
    });

    it("rejects a body that is not UTF-8 [C-06]", async () => {
      const response = await visit.endpoint.send("/", {
        method: "POST",
        headers: V1_JSON_TEST_HEADERS,
        body: new Uint8Array([0x22, 0xff, 0x22]),
      });
      expect(((await response.json()) as JsonRpcTestResponse).error?.code).toBe(-32700);
    });

    it("requires authentication in both bindings, except for the card [M-01, M-11] [SEC-02]", async () => {
      const guarded = await open(
        { parrot: messageCommandTestAgent },
        {
          store: "memory",
          authenticate: ({ header }) =>
            header("authorization") === "Bearer good" ? { tenant: "", principal: "alice" } : undefined,
        },
      );
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks" });
      const refused = await guarded.endpoint.send("/", {
        method: "POST",
        headers: V1_JSON_TEST_HEADERS,
        body,
      });
      expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, `Bearer realm="a2a"`]);
      expect(((await refused.json()) as JsonRpcTestResponse).error?.code).toBe(-32000);
      const rest = await guarded.endpoint.send("/tasks", { headers: V1_TEST_HEADERS });
      expect([rest.status, rest.headers.get("www-authenticate")]).toEqual([401, `Bearer realm="a2a"`]);
      expect(
        (
          await guarded.endpoint.send("/tasks", {
            headers: { ...V1_TEST_HEADERS, authorization: "Bearer good" },
          })
        ).status,
      ).toBe(200);
      expect((await guarded.endpoint.send("/.well-known/agent-card.json")).status).toBe(200);
      await guarded.endpoint.close();
    });

    it("uses the status table of 1.0.0 when configured [D-05]", async () => {
      const old = await open({ parrot: messageCommandTestAgent }, { store: "memory", specRevision: "1.0.0" });
      const sent = await old.endpoint.send("/message:send", {
        method: "POST",
        headers: V1_JSON_TEST_HEADERS,
        body: JSON.stringify({ message: buildTestMessage("echo x") }),
      });
      expect(sent.headers.get("content-type")).toBe("application/json");
      const { task } = (await sent.json()) as { task: Task };
      expect(
        (
          await old.endpoint.send(`/tasks/${task.id}:cancel`, {
            method: "POST",
            headers: V1_JSON_TEST_HEADERS,
          })
        ).status,
      ).toBe(409);
      const typed = {
        method: "POST",
        headers: { ...V1_TEST_HEADERS, "content-type": "text/plain" },
        body: "{}",
      };
      expect((await old.endpoint.send("/message:send", typed)).status).toBe(415);
      await old.endpoint.close();
    });

    it("reads a request without a version as 0.3, unless it infers the version [B-05, B-07]", async () => {
      const unversioned = await visit.endpoint.send("/tasks");
      expect(unversioned.status).toBe(404);
      expect(await unversioned.text()).toContain(`send \\"A2A-Version: 1.0\\"`);
      const { endpoint } = await open(
        { parrot: messageCommandTestAgent },
        { store: "memory", missingVersionPolicy: "infer" },
      );
      expect((await endpoint.send("/tasks")).status).toBe(200);
      await endpoint.close();
    });

    it("assigns a missing message id when configured, and rejects the message otherwise", async () => {
      const lenient = await open(
        { parrot: messageCommandTestAgent },
        { store: "memory", autoMessageId: true },
      );
      const nameless = { message: { ...buildTestMessage("echo x"), messageId: undefined } };
      const rpcBody = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: nameless };
      const post = (path: string, body: object): RequestInit & { path: string } => ({
        path,
        method: "POST",
        headers: V1_JSON_TEST_HEADERS,
        body: JSON.stringify(body),
      });
      for (const { path, ...init } of [post("/", rpcBody), post("/message:send", nameless)]) {
        const answer = JSON.stringify(await (await lenient.endpoint.send(path, init)).json());
        expect(answer).toContain("TASK_STATE_COMPLETED");
        const strict = JSON.stringify(await (await visit.endpoint.send(path, init)).json());
        expect(strict).toContain("message.messageId");
      }
      await lenient.endpoint.close();
    });

    it("ends its streams between two events with an error when it closes [D-10]", async () => {
      const { endpoint: own, server } = await open({ parrot: messageCommandTestAgent }, { store: "memory" });
      const start = (text: string): Promise<Response> =>
        own.send("/message:stream", {
          method: "POST",
          headers: V1_JSON_TEST_HEADERS,
          body: JSON.stringify({ message: buildTestMessage(text) }),
        });
      const events = await readServerSentTestEvents(await start("ask"));
      const { task } = (events[0] as { data: { task: Task } }).data;
      const subscribed = await own.send(`/tasks/${task.id}:subscribe`, {
        method: "POST",
        headers: V1_JSON_TEST_HEADERS,
      });
      const reading = [readServerSentTestEvents(await start("wait")), readServerSentTestEvents(subscribed)];
      await server.close({ graceMs: 500 });
      const [ended, cut] = await Promise.all(reading);
      expect(ended?.at(-1)?.data).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_FAILED" } } });
      expect(cut?.map(({ data }) => Object.keys(data as object)[0])).toEqual(["task", "error"]);
      expect(cut?.at(-1)?.data).toMatchObject({ error: { code: 503, status: "UNAVAILABLE" } });
      await own.close();
    });
  });
}
