import { describe, expect, it } from "vitest";
import type { StreamResponse, Task } from "../../protocol/index.ts";
import {
  V1_TEST_HEADERS,
  V1_JSON_TEST_HEADERS,
  buildTestMessage,
  readServerSentTestEvents,
  type TestClient,
} from "../server.fixture.ts";

/** Defines the tests of the HTTP+JSON binding for one kind of endpoint. */
export function defineRestContract(visit: TestClient): void {
  const { callJsonRpc: rpc, postJson: post, createTask: taskFrom } = visit;

  describe("HTTP+JSON", () => {
    it("serves every route of the specification [D-01, D-02, D-07, D-08]", async () => {
      const sent = await post("/message:send", { message: buildTestMessage("echo hello") });
      expect([sent.status, sent.headers.get("content-type")]).toEqual([200, "application/a2a+json"]);
      const { task } = (await sent.json()) as { task: Task };
      const get = async (path: string): Promise<unknown> =>
        (await visit.endpoint.send(path, { headers: V1_TEST_HEADERS })).json();
      expect(await get(`/tasks/${task.id}?historyLength=0`)).not.toHaveProperty("history");
      expect(await get(`/tasks?includeArtifacts=true&pageSize=1`)).toMatchObject({
        tasks: [{ artifacts: [{}] }],
        pageSize: 1,
      });
      const waiting = await taskFrom("ask");
      const canceled = await visit.endpoint.send(`/tasks/${waiting.id}:cancel`, {
        method: "POST",
        headers: V1_JSON_TEST_HEADERS,
      });
      expect(await canceled.json()).toMatchObject({ status: { state: "TASK_STATE_CANCELED" } });
    });

    it("returns plain JSON when the client accepts only that [D-01]", async () => {
      const response = await visit.endpoint.send("/tasks", {
        headers: { ...V1_TEST_HEADERS, accept: "application/json" },
      });
      expect(response.headers.get("content-type")).toBe("application/json");
    });

    it("streams plain events, and subscribes with POST and GET [D-06, F-50, F-52]", async () => {
      const events = await readServerSentTestEvents(
        await post("/message:stream", { message: buildTestMessage("chunks 2") }),
      );
      expect(events.map(({ data }) => Object.keys(data as StreamResponse)[0])).toEqual([
        "task",
        "statusUpdate",
        "artifactUpdate",
        "statusUpdate",
      ]);
      for (const method of ["POST", "GET"]) {
        const waiting = await taskFrom("ask");
        const headers = method === "POST" ? V1_JSON_TEST_HEADERS : V1_TEST_HEADERS;
        const stream = await visit.endpoint.send(`/tasks/${waiting.id}:subscribe`, { method, headers });
        await rpc("SendMessage", { message: buildTestMessage("echo done", { taskId: waiting.id }) });
        const seen = await readServerSentTestEvents(stream);
        expect(seen[0]?.data).toMatchObject({ task: { status: { state: "TASK_STATE_INPUT_REQUIRED" } } });
        expect(seen.at(-1)?.data).toMatchObject({
          statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } },
        });
      }
    });

    it("resumes after Last-Event-ID, and rejects an invalid one [E4]", async () => {
      const events = await readServerSentTestEvents(
        await post("/message:stream", { message: buildTestMessage("chunks 2") }),
      );
      const { id } = (events[0] as { data: { task: Task } }).data.task;
      const resume = (last: string): Promise<Response> =>
        visit.endpoint.send(`/tasks/${id}:subscribe`, {
          method: "POST",
          headers: { ...V1_JSON_TEST_HEADERS, "last-event-id": last },
        });
      expect(await readServerSentTestEvents(await resume("2"))).toEqual(events.slice(2));
      const refused = await resume("soon");
      expect(refused.status).toBe(400);
      expect(JSON.stringify(await refused.json())).toContain(`"field":"Last-Event-ID"`);
    });

    it("returns errors as google.rpc.Status, with the status of the error [1.L, D-03, D-04, D-05, D-09]", async () => {
      const fetchError = async (path: string, init: RequestInit = {}): Promise<unknown> => {
        const response = await visit.endpoint.send(path, { headers: V1_JSON_TEST_HEADERS, ...init });
        const { error } = (await response.json()) as {
          error: { code: number; status: string; details: { reason?: string }[] };
        };
        expect(error.code).toBe(response.status);
        return [error.code, error.status, error.details[0]?.reason];
      };
      const done = await taskFrom("echo x");
      expect(await fetchError("/tasks/nope")).toEqual([404, "NOT_FOUND", "TASK_NOT_FOUND"]);
      expect(await fetchError(`/tasks/${done.id}:cancel`, { method: "POST" })).toEqual([
        400,
        "FAILED_PRECONDITION",
        "TASK_NOT_CANCELABLE",
      ]);
      expect(await fetchError(`/tasks/${done.id}:subscribe`)).toEqual([
        400,
        "FAILED_PRECONDITION",
        "UNSUPPORTED_OPERATION",
      ]);
      expect((await fetchError("/tasks?pageSize=1000")) as unknown[]).toEqual([
        400,
        "INVALID_ARGUMENT",
        undefined,
      ]);
      expect(((await fetchError("/no/such/route")) as unknown[])[0]).toBe(404);
      expect(((await fetchError(`/tasks/${done.id}:explode`, { method: "POST" })) as unknown[])[0]).toBe(404);
      const wrong = await visit.endpoint.send("/message:send", { headers: V1_TEST_HEADERS });
      expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
      expect(((await fetchError("/a2a/silent/tasks/x/pushNotificationConfigs")) as unknown[])[2]).toBe(
        "PUSH_NOTIFICATION_NOT_SUPPORTED",
      );
    });

    it("rejects an unknown version [B-04]", async () => {
      const unknown = await visit.endpoint.send("/tasks", { headers: { "a2a-version": "2.0" } });
      expect(unknown.status).toBe(400);
      expect(await unknown.text()).toContain("VERSION_NOT_SUPPORTED");
    });
  });
}
