import { describe, expect, it } from "vitest";
import {
  V1_TEST_HEADERS,
  V1_JSON_TEST_HEADERS,
  buildTestMessage,
  readServerSentTestEvents,
  type JsonRpcTestResponse,
  type TestClient,
} from "../server.fixture.ts";

/** Defines the tests of the JSON-RPC binding for one kind of endpoint. */
export function defineJsonRpcContract(visit: TestClient): void {
  const { callJsonRpc: rpc, postJson: post, createTask: taskFrom } = visit;

  describe("JSON-RPC", () => {
    it("returns the request's id and the operation's result [C-01, C-02, C-03, C-04]", async () => {
      const sent = await rpc("SendMessage", { message: buildTestMessage("echo hello") });
      expect(sent).toMatchObject({
        jsonrpc: "2.0",
        id: 7,
        result: { task: { status: { state: "TASK_STATE_COMPLETED" } } },
      });
      const id = sent.result?.task?.id;
      expect((await rpc("GetTask", { id })).result).toMatchObject({
        id,
        artifacts: [{ parts: [{ text: "hello" }] }],
      });
      expect((await rpc("ListTasks")).result).toMatchObject({
        tasks: [{ id }],
        nextPageToken: "",
        totalSize: 1,
      });
      const waiting = await taskFrom("ask");
      expect((await rpc("CancelTask", { id: waiting.id })).result).toMatchObject({
        id: waiting.id,
        status: { state: "TASK_STATE_CANCELED" },
      });
    });

    it("streams numbered responses with the request's id [C-01, C-03, C-04, E4, G-01, G-02, G-05]", async () => {
      const body = {
        jsonrpc: "2.0",
        id: "s",
        method: "SendStreamingMessage",
        params: { message: buildTestMessage("chunks 3") },
      };
      const response = await post("/", body);
      expect(response.headers.get("content-type")).toBe("text/event-stream");
      expect(response.headers.get("cache-control")).toBe("no-cache");
      const events = await readServerSentTestEvents(response);
      expect(events.map(({ id }) => id)).toEqual(events.map((_, at) => at + 1));
      expect(events.every(({ data }) => (data as JsonRpcTestResponse).id === "s")).toBe(true);
      expect(events[0]?.data).toMatchObject({
        result: { task: { status: { state: "TASK_STATE_SUBMITTED" } } },
      });
      expect(events.at(-1)?.data).toMatchObject({
        result: { statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } },
      });
    });

    it("returns errors before a stream starts as plain JSON [C-12]", async () => {
      const response = await post("/", {
        jsonrpc: "2.0",
        id: 1,
        method: "SubscribeToTask",
        params: { id: "nope" },
      });
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(((await response.json()) as JsonRpcTestResponse).error?.code).toBe(-32001);
    });

    it("returns status 200 for JSON-RPC errors, and lists invalid fields [C-05, C-06, C-07]", async () => {
      const response = await post("/", {
        jsonrpc: "2.0",
        id: 1,
        method: "SendMessage",
        params: { message: { parts: [] } },
      });
      expect(response.status).toBe(200);
      const { error } = (await response.json()) as JsonRpcTestResponse;
      expect(error?.code).toBe(-32602);
      const fields =
        error?.data?.find((detail) => detail["@type"].endsWith("BadRequest"))?.fieldViolations ?? [];
      expect(fields.map(({ field }) => field).toSorted()).toEqual([
        "message.messageId",
        "message.parts",
        "message.role",
      ]);
    });

    it("accepts only POST, at the agent's URL with and without a slash [C-07, C-13]", async () => {
      const wrong = await visit.endpoint.send("/a2a/parrot");
      expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
      for (const path of ["/", "/a2a/parrot", "/a2a/parrot/"]) {
        expect((await rpc("ListTasks", {}, {}, path)).result).toBeDefined();
      }
    });

    it("accepts only bodies declared as JSON [C-11] [SEC-50]", async () => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks" });
      const code = async (type: string): Promise<number | undefined> => {
        const response = await visit.endpoint.send("/", {
          method: "POST",
          headers: { ...V1_TEST_HEADERS, "content-type": type },
          body,
        });
        return ((await response.json()) as JsonRpcTestResponse).error?.code;
      };
      expect(await code("application/json; charset=utf-8")).toBeUndefined();
      expect(await code("application/a2a+json")).toBeUndefined();
      expect(await code("text/plain")).toBe(-32005);
      const headers = { ...V1_JSON_TEST_HEADERS, "content-encoding": "gzip" };
      const packed = await visit.endpoint.send("/", { method: "POST", headers, body });
      expect(((await packed.json()) as JsonRpcTestResponse).error?.code).toBe(-32005);
    });

    it("reads the version from the header or the query, in any letter case [B-02, B-03, B-04, B-06, C-10]", async () => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks" });
      const code = async (path: string, headers: Record<string, string>): Promise<number | undefined> => {
        const response = await visit.endpoint.send(path, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body,
        });
        return ((await response.json()) as JsonRpcTestResponse).error?.code;
      };
      expect(await code("/", { "A2A-VERSION": "1.0" })).toBeUndefined();
      expect(await code("/", { "a2a-version": "1.0.7" })).toBeUndefined();
      expect(await code("/?A2A-Version=1.0", {})).toBeUndefined();
      expect(await code("/", { "a2a-version": "1.1" })).toBe(-32009);
      // 1.0 lacks the methods of 0.3.
      expect((await rpc("message/send")).error).toMatchObject({
        code: -32601,
        message: expect.stringContaining(`send "A2A-Version: 0.3"`) as unknown,
      });
    });

    it("rejects operations that the card does not offer [A-31, F-13, H-01, H-02, H-03]", async () => {
      const code = async (method: string, params: object, path = "/"): Promise<number | undefined> =>
        (await rpc(method, params, {}, path)).error?.code;
      expect(await code("GetExtendedAgentCard", {})).toBe(-32004);
      const silent = "/a2a/silent";
      expect(await code("CreateTaskPushNotificationConfig", { taskId: "nope" }, silent)).toBe(-32003);
      expect(await code("GetTaskPushNotificationConfig", {}, silent)).toBe(-32003);
      expect(await code("ListTaskPushNotificationConfigs", {}, silent)).toBe(-32003);
      expect(await code("DeleteTaskPushNotificationConfig", {}, silent)).toBe(-32003);
      const configuration = { taskPushNotificationConfig: { url: "http://example.com" } };
      expect(await code("SendMessage", { message: buildTestMessage("echo x"), configuration }, silent)).toBe(
        -32003,
      );
      expect(await code("SendStreamingMessage", { message: buildTestMessage("echo x") }, silent)).toBe(
        -32004,
      );
      expect(await code("SubscribeToTask", { id: "nope" }, silent)).toBe(-32004);
    });
  });
}
