import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Agent, AgentEvent, Run } from "../engine/index.ts";
import { textOf, type AgentCard, type StreamResponse, type Task } from "../protocol/index.ts";
import type { Server, ServerOptions } from "./index.ts";

/** A way to send requests to a server, and to stop doing so. */
export interface Door {
  readonly url: string;
  send(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

/** Says what its message asks for: `echo …`, `chunks n`, `ask`, `wait` (until aborted), `throw`. */
export const parrot: Agent = {
  describe: () => ({
    name: "parrot",
    description: "Repeats.",
    skills: [{ id: "repeat", name: "Repeat", description: "Repeats.", tags: ["test"] }],
  }),
  async *execute({ message, signal }: Run): AsyncGenerator<AgentEvent> {
    const [what = "", ...rest] = textOf(message.parts).split(" ");
    yield { status: { state: "TASK_STATE_WORKING" } };
    if (what === "ask")
      yield { status: { state: "TASK_STATE_INPUT_REQUIRED", message: { parts: [{ text: "what?" }] } } };
    if (what === "throw") throw new Error("secret");
    if (what === "wait")
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    const chunks = what === "chunks" ? Number(rest[0]) : what === "echo" ? 1 : 0;
    for (let at = 0; at < chunks; at++) {
      const text = what === "echo" ? rest.join(" ") : `${at} `;
      yield { artifact: { artifactId: "a", parts: [{ text }] }, ...(at > 0 ? { append: true } : {}) };
    }
  },
};

const V1 = { "a2a-version": "1.0" };
const JSON_BODY = { ...V1, "content-type": "application/json" };
let count = 0;
const message = (text: string, more: object = {}): object => ({
  messageId: `m${++count}`,
  role: "ROLE_USER",
  parts: [{ text }],
  ...more,
});

interface RpcAnswer {
  id: unknown;
  result?: Record<string, unknown> & { task?: Task };
  error?: {
    code: number;
    message: string;
    data?: { "@type": string; reason?: string; fieldViolations?: { field: string }[] }[];
  };
}

/** Server-sent events of a body that ends: id and data of each. */
export async function readEvents(response: Response): Promise<{ id: number | undefined; data: unknown }[]> {
  const frames = (await response.text()).split("\n\n").filter((frame) => frame.includes("data: "));
  return frames.map((frame) => {
    const id = /^id: (\d+)$/m.exec(frame)?.[1];
    return {
      id: id === undefined ? undefined : Number(id),
      data: JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? "null"),
    };
  });
}

/** What every door to a server must do alike. */
export function serverContract(
  name: string,
  open: (agents: Record<string, Agent>, options?: ServerOptions) => Promise<{ door: Door; server: Server }>,
): void {
  describe(`a server, through ${name}`, () => {
    let door: Door;

    beforeEach(async () => {
      const silent: Agent = {
        ...parrot,
        describe: () => ({
          name: "silent",
          description: "Does not stream.",
          capabilities: { streaming: false },
        }),
      };
      ({ door } = await open({ parrot, silent }, { store: "memory" }));
    });
    afterEach(() => door.close());

    const rpc = async (
      method: string,
      params?: object,
      headers: Record<string, string> = {},
      path = "/",
    ): Promise<RpcAnswer> => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method, ...(params ? { params } : {}) });
      const response = await door.send(path, { method: "POST", headers: { ...JSON_BODY, ...headers }, body });
      return (await response.json()) as RpcAnswer;
    };
    const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
      door.send(path, { method: "POST", headers: { ...JSON_BODY, ...headers }, body: JSON.stringify(body) });
    const taskFrom = async (text: string): Promise<Task> =>
      ((await rpc("SendMessage", { message: message(text) })).result?.task ?? {}) as Task;

    describe("the card", () => {
      it("is served at the well-known path, with both interfaces at their true URLs [A-01, A-03, A-04, A-05]", async () => {
        const response = await door.send("/.well-known/agent-card.json");
        expect(response.status).toBe(200);
        expect(response.headers.get("content-type")).toBe("application/json");
        const card = (await response.json()) as AgentCard;
        const url = `${door.url}/a2a/parrot`;
        expect(card.supportedInterfaces).toEqual([
          { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
          { url, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
        ]);
        expect((await post("/a2a/parrot/message:send", { message: message("echo x") })).status).toBe(200);
      });

      it("has every required field and says what it can [A-02, A-08]", async () => {
        const card = (await (await door.send("/a2a/silent/.well-known/agent-card.json")).json()) as AgentCard;
        expect(card).toMatchObject({ name: "silent", version: "1.0.0", capabilities: { streaming: false } });
        for (const list of [card.skills, card.defaultInputModes, card.defaultOutputModes])
          expect(list).toHaveLength(1);
        expect(card.capabilities).not.toHaveProperty("pushNotifications");
        expect(card.capabilities).not.toHaveProperty("extendedAgentCard");
      });

      it("can be kept, and asked whether it changed [A-20, A-21, A-22]", async () => {
        const { headers } = await door.send("/.well-known/agent-card.json");
        expect(headers.get("cache-control")).toMatch(/max-age=\d+/);
        const etag = headers.get("etag") ?? "";
        const modified = headers.get("last-modified") ?? "";
        const ask = async (more: Record<string, string>): Promise<number> =>
          (await door.send("/.well-known/agent-card.json", { headers: more })).status;
        expect(await ask({ "if-none-match": etag })).toBe(304);
        expect(await ask({ "if-none-match": `W/${etag}, "other"` })).toBe(304);
        expect(await ask({ "if-none-match": "*" })).toBe(304);
        expect(await ask({ "if-none-match": `"other"`, "if-modified-since": modified })).toBe(200);
        expect(await ask({ "if-modified-since": modified })).toBe(304);
        expect(await ask({ "if-modified-since": "Thu, 01 Jan 2015 00:00:00 GMT" })).toBe(200);
        const head = await door.send("/.well-known/agent-card.json", { method: "HEAD" });
        expect([head.status, head.headers.get("etag"), await head.text()]).toEqual([200, etag, ""]);
        const wrong = await door.send("/.well-known/agent-card.json", { method: "DELETE" });
        expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
      });

      it("of every agent is in the catalogue", async () => {
        const { agents } = (await (await door.send("/a2a")).json()) as {
          agents: { id: string; cardUrl: string }[];
        };
        expect(agents.map(({ id }) => id)).toEqual(["parrot", "silent"]);
        const own = await door.send(new URL(agents[1]?.cardUrl ?? "").pathname);
        expect(await own.json()).toMatchObject({ name: "silent" });
      });
    });

    describe("JSON-RPC", () => {
      it("answers with the request's id and the operation's result [C-01, C-02, C-03, C-04]", async () => {
        const sent = await rpc("SendMessage", { message: message("echo hello") });
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

      it("streams responses with the request's id, numbered [C-01, C-03, C-04, E4, G-01, G-02, G-05]", async () => {
        const body = {
          jsonrpc: "2.0",
          id: "s",
          method: "SendStreamingMessage",
          params: { message: message("chunks 3") },
        };
        const response = await post("/", body);
        expect(response.headers.get("content-type")).toBe("text/event-stream");
        expect(response.headers.get("cache-control")).toBe("no-cache");
        const events = await readEvents(response);
        expect(events.map(({ id }) => id)).toEqual(events.map((_, at) => at + 1));
        expect(events.every(({ data }) => (data as RpcAnswer).id === "s")).toBe(true);
        expect(events[0]?.data).toMatchObject({
          result: { task: { status: { state: "TASK_STATE_SUBMITTED" } } },
        });
        expect(events.at(-1)?.data).toMatchObject({
          result: { statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } },
        });
      });

      it("refuses before the stream begins in plain JSON [C-12]", async () => {
        const response = await post("/", {
          jsonrpc: "2.0",
          id: 1,
          method: "SubscribeToTask",
          params: { id: "nope" },
        });
        expect(response.headers.get("content-type")).toBe("application/json");
        expect(((await response.json()) as RpcAnswer).error?.code).toBe(-32001);
      });

      it("says 200 to whatever it answers, and which fields are wrong [C-05, C-06, C-07]", async () => {
        const response = await post("/", {
          jsonrpc: "2.0",
          id: 1,
          method: "SendMessage",
          params: { message: { parts: [] } },
        });
        expect(response.status).toBe(200);
        const { error } = (await response.json()) as RpcAnswer;
        expect(error?.code).toBe(-32602);
        const fields =
          error?.data?.find((detail) => detail["@type"].endsWith("BadRequest"))?.fieldViolations ?? [];
        expect(fields.map(({ field }) => field).toSorted()).toEqual([
          "message.messageId",
          "message.parts",
          "message.role",
        ]);
      });

      it("takes only POST, at the agent's URL with and without a slash [C-07, C-13]", async () => {
        const wrong = await door.send("/a2a/parrot");
        expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
        for (const path of ["/", "/a2a/parrot", "/a2a/parrot/"]) {
          expect((await rpc("ListTasks", {}, {}, path)).result).toBeDefined();
        }
      });

      it("takes JSON only, declared as such [C-11]", async () => {
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks" });
        const code = async (type: string): Promise<number | undefined> => {
          const response = await door.send("/", {
            method: "POST",
            headers: { ...V1, "content-type": type },
            body,
          });
          return ((await response.json()) as RpcAnswer).error?.code;
        };
        expect(await code("application/json; charset=utf-8")).toBeUndefined();
        expect(await code("application/a2a+json")).toBeUndefined();
        expect(await code("text/plain")).toBe(-32005);
        const headers = { ...JSON_BODY, "content-encoding": "gzip" };
        const packed = await door.send("/", { method: "POST", headers, body });
        expect(((await packed.json()) as RpcAnswer).error?.code).toBe(-32005);
      });

      it("needs the version, in the header or the query, whatever the case of its name [B-02, B-03, B-04, B-05, B-06, C-10]", async () => {
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks" });
        const code = async (path: string, headers: Record<string, string>): Promise<number | undefined> => {
          const response = await door.send(path, {
            method: "POST",
            headers: { "content-type": "application/json", ...headers },
            body,
          });
          return ((await response.json()) as RpcAnswer).error?.code;
        };
        expect(await code("/", { "A2A-VERSION": "1.0" })).toBeUndefined();
        expect(await code("/", { "a2a-version": "1.0.7" })).toBeUndefined();
        expect(await code("/?A2A-Version=1.0", {})).toBeUndefined();
        expect(await code("/", {})).toBe(-32009);
        expect(await code("/", { "a2a-version": "0.3" })).toBe(-32009);
        expect((await rpc("message/send")).error?.code).toBe(-32601);
      });

      it("does not do what the card does not offer [A-31, F-13, H-01, H-02, H-03]", async () => {
        const code = async (method: string, params: object, path = "/"): Promise<number | undefined> =>
          (await rpc(method, params, {}, path)).error?.code;
        expect(await code("GetExtendedAgentCard", {})).toBe(-32004);
        expect(await code("CreateTaskPushNotificationConfig", { taskId: "nope" })).toBe(-32003);
        expect(await code("GetTaskPushNotificationConfig", {})).toBe(-32003);
        expect(await code("ListTaskPushNotificationConfigs", {})).toBe(-32003);
        expect(await code("DeleteTaskPushNotificationConfig", {})).toBe(-32003);
        const configuration = { taskPushNotificationConfig: { url: "http://example.com" } };
        expect(await code("SendMessage", { message: message("echo x"), configuration })).toBe(-32003);
        expect(await code("SendStreamingMessage", { message: message("echo x") }, "/a2a/silent")).toBe(
          -32004,
        );
        expect(await code("SubscribeToTask", { id: "nope" }, "/a2a/silent")).toBe(-32004);
      });
    });

    describe("HTTP+JSON", () => {
      it("answers every route of the specification [D-01, D-02, D-07, D-08]", async () => {
        const sent = await post("/message:send", { message: message("echo hello") });
        expect([sent.status, sent.headers.get("content-type")]).toEqual([200, "application/a2a+json"]);
        const { task } = (await sent.json()) as { task: Task };
        const get = async (path: string): Promise<unknown> => (await door.send(path, { headers: V1 })).json();
        expect(await get(`/tasks/${task.id}?historyLength=0`)).not.toHaveProperty("history");
        expect(await get(`/tasks?includeArtifacts=true&pageSize=1`)).toMatchObject({
          tasks: [{ artifacts: [{}] }],
          pageSize: 1,
        });
        const waiting = await taskFrom("ask");
        const canceled = await door.send(`/tasks/${waiting.id}:cancel`, {
          method: "POST",
          headers: JSON_BODY,
        });
        expect(await canceled.json()).toMatchObject({ status: { state: "TASK_STATE_CANCELED" } });
      });

      it("speaks plain JSON to those who ask for it [D-01]", async () => {
        const response = await door.send("/tasks", { headers: { ...V1, accept: "application/json" } });
        expect(response.headers.get("content-type")).toBe("application/json");
      });

      it("streams bare events, and subscribes by POST and GET [D-06, F-50, F-52]", async () => {
        const events = await readEvents(await post("/message:stream", { message: message("chunks 2") }));
        expect(events.map(({ data }) => Object.keys(data as StreamResponse)[0])).toEqual([
          "task",
          "statusUpdate",
          "artifactUpdate",
          "statusUpdate",
        ]);
        for (const method of ["POST", "GET"]) {
          const waiting = await taskFrom("ask");
          const headers = method === "POST" ? JSON_BODY : V1;
          const stream = await door.send(`/tasks/${waiting.id}:subscribe`, { method, headers });
          await rpc("SendMessage", { message: message("echo done", { taskId: waiting.id }) });
          const seen = await readEvents(stream);
          expect(seen[0]?.data).toMatchObject({ task: { status: { state: "TASK_STATE_INPUT_REQUIRED" } } });
          expect(seen.at(-1)?.data).toMatchObject({
            statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } },
          });
        }
      });

      it("resumes behind Last-Event-ID, and refuses one that is none [E4]", async () => {
        const events = await readEvents(await post("/message:stream", { message: message("chunks 2") }));
        const { id } = (events[0] as { data: { task: Task } }).data.task;
        const resume = (last: string): Promise<Response> =>
          door.send(`/tasks/${id}:subscribe`, {
            method: "POST",
            headers: { ...JSON_BODY, "last-event-id": last },
          });
        expect(await readEvents(await resume("2"))).toEqual(events.slice(2));
        const refused = await resume("soon");
        expect(refused.status).toBe(400);
        expect(JSON.stringify(await refused.json())).toContain(`"field":"Last-Event-ID"`);
      });

      it("refuses as google.rpc.Status, with the status of the error [1.L, D-03, D-04, D-05, D-09]", async () => {
        const told = async (path: string, init: RequestInit = {}): Promise<unknown> => {
          const response = await door.send(path, { headers: JSON_BODY, ...init });
          const { error } = (await response.json()) as {
            error: { code: number; status: string; details: { reason?: string }[] };
          };
          expect(error.code).toBe(response.status);
          return [error.code, error.status, error.details[0]?.reason];
        };
        const done = await taskFrom("echo x");
        expect(await told("/tasks/nope")).toEqual([404, "NOT_FOUND", "TASK_NOT_FOUND"]);
        expect(await told(`/tasks/${done.id}:cancel`, { method: "POST" })).toEqual([
          400,
          "FAILED_PRECONDITION",
          "TASK_NOT_CANCELABLE",
        ]);
        expect(await told(`/tasks/${done.id}:subscribe`)).toEqual([
          400,
          "FAILED_PRECONDITION",
          "UNSUPPORTED_OPERATION",
        ]);
        expect((await told("/tasks?pageSize=1000")) as unknown[]).toEqual([
          400,
          "INVALID_ARGUMENT",
          undefined,
        ]);
        expect(((await told("/no/such/route")) as unknown[])[0]).toBe(404);
        expect(((await told(`/tasks/${done.id}:explode`, { method: "POST" })) as unknown[])[0]).toBe(404);
        const wrong = await door.send("/message:send", { headers: V1 });
        expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
        expect(((await told("/tasks/x/pushNotificationConfigs")) as unknown[])[2]).toBe(
          "PUSH_NOTIFICATION_NOT_SUPPORTED",
        );
      });

      it("needs the version [B-04, B-05]", async () => {
        const response = await door.send("/tasks");
        expect(response.status).toBe(400);
        expect(JSON.stringify(await response.json())).toContain("VERSION_NOT_SUPPORTED");
      });
    });

    it("keeps the agents' tasks apart [E13]", async () => {
      const { id } = await taskFrom("echo x");
      expect((await rpc("GetTask", { id }, {}, "/a2a/silent")).error?.code).toBe(-32001);
      expect((await rpc("ListTasks", {}, {}, "/a2a/silent")).result).toMatchObject({ totalSize: 0 });
      expect((await rpc("GetTask", { id }, {}, "/a2a/parrot")).result).toMatchObject({ id });
    });

    it("keeps tenants apart [E13, K-02]", async () => {
      const sent = await rpc("SendMessage", { message: message("echo x"), tenant: "a" });
      const id = sent.result?.task?.id;
      expect((await rpc("GetTask", { id, tenant: "a" })).result).toMatchObject({ id });
      expect((await rpc("GetTask", { id, tenant: "b" })).error?.code).toBe(-32001);
      expect((await rpc("GetTask", { id })).error?.code).toBe(-32001);
    });

    it("refuses a body that is too large, and lives on [D-05, E14]", async () => {
      const small = await open({ parrot }, { store: "memory", limits: { bodyBytes: 1000 } });
      const body = JSON.stringify({ message: message("x".repeat(2000)) });
      const response = await small.door.send("/message:send", { method: "POST", headers: JSON_BODY, body });
      expect(response.status).toBe(413);
      expect(await response.text()).toContain("1,000 bytes");
      const next = await small.door.send("/message:send", {
        method: "POST",
        headers: JSON_BODY,
        body: JSON.stringify({ message: message("echo") }),
      });
      expect(next.status).toBe(200);
      await small.door.close();
    });

    it("refuses a body that is not UTF-8 [C-06]", async () => {
      const response = await door.send("/", {
        method: "POST",
        headers: JSON_BODY,
        body: new Uint8Array([0x22, 0xff, 0x22]),
      });
      expect(((await response.json()) as RpcAnswer).error?.code).toBe(-32700);
    });

    it("lets nobody in who is not authenticated, in either binding; the card is public [M-01, M-11]", async () => {
      const guarded = await open(
        { parrot },
        {
          store: "memory",
          authenticate: ({ header }) =>
            header("authorization") === "Bearer good" ? { tenant: "", principal: "alice" } : undefined,
        },
      );
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks" });
      const refused = await guarded.door.send("/", { method: "POST", headers: JSON_BODY, body });
      expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, `Bearer realm="a2a"`]);
      expect(((await refused.json()) as RpcAnswer).error?.code).toBe(-32000);
      const rest = await guarded.door.send("/tasks", { headers: V1 });
      expect([rest.status, rest.headers.get("www-authenticate")]).toEqual([401, `Bearer realm="a2a"`]);
      expect(
        (await guarded.door.send("/tasks", { headers: { ...V1, authorization: "Bearer good" } })).status,
      ).toBe(200);
      expect((await guarded.door.send("/.well-known/agent-card.json")).status).toBe(200);
      await guarded.door.close();
    });

    it("follows the tables of 1.0.0 when told to [D-05]", async () => {
      const old = await open({ parrot }, { store: "memory", specRevision: "1.0.0" });
      const sent = await old.door.send("/message:send", {
        method: "POST",
        headers: JSON_BODY,
        body: JSON.stringify({ message: message("echo x") }),
      });
      expect(sent.headers.get("content-type")).toBe("application/json");
      const { task } = (await sent.json()) as { task: Task };
      expect(
        (await old.door.send(`/tasks/${task.id}:cancel`, { method: "POST", headers: JSON_BODY })).status,
      ).toBe(409);
      const typed = { method: "POST", headers: { ...V1, "content-type": "text/plain" }, body: "{}" };
      expect((await old.door.send("/message:send", typed)).status).toBe(415);
      await old.door.close();
    });

    it("reads a request without a version by its shape when told to [B-07]", async () => {
      const sloppy = await open({ parrot }, { store: "memory", missingVersion: "infer" });
      expect((await sloppy.door.send("/tasks")).status).toBe(200);
      await sloppy.door.close();
    });

    it("ends its streams between two events when it closes, and says that they are cut [D-10]", async () => {
      const { door: own, server } = await open({ parrot }, { store: "memory" });
      const start = (text: string): Promise<Response> =>
        own.send("/message:stream", {
          method: "POST",
          headers: JSON_BODY,
          body: JSON.stringify({ message: message(text) }),
        });
      const asked = await readEvents(await start("ask"));
      const { task } = (asked[0] as { data: { task: Task } }).data;
      const subscribed = await own.send(`/tasks/${task.id}:subscribe`, {
        method: "POST",
        headers: JSON_BODY,
      });
      const reading = [readEvents(await start("wait")), readEvents(subscribed)];
      await server.close({ graceMs: 500 });
      const [ended, cut] = await Promise.all(reading);
      expect(ended?.at(-1)?.data).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_FAILED" } } });
      expect(cut?.map(({ data }) => Object.keys(data as object)[0])).toEqual(["task", "error"]);
      expect(cut?.at(-1)?.data).toMatchObject({ error: { code: 503, status: "UNAVAILABLE" } });
      await own.close();
    });
  });
}
