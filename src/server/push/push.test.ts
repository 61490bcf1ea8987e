import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Agent, AgentEvent, PushSeen, Run } from "../../engine/index.ts";
import type { TaskPushNotificationConfig } from "../../protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "../index.ts";
import { JSON_BODY, message, parrot, V1, type RpcAnswer } from "../server.fixture.ts";
import { Receiver } from "./receiver.fixture.ts";

type Method = "Create" | "Get" | "List" | "Delete";
interface Answered {
  readonly result?: Record<string, unknown> & Partial<TaskPushNotificationConfig>;
  readonly reason?: string | undefined;
  readonly violations?: string[];
}

const METHODS: Record<Method, string> = {
  Create: "CreateTaskPushNotificationConfig",
  Get: "GetTaskPushNotificationConfig",
  List: "ListTaskPushNotificationConfigs",
  Delete: "DeleteTaskPushNotificationConfig",
};

interface ErrorDetail {
  reason?: string;
  fieldViolations?: { field: string }[];
}

function told(details: ErrorDetail[] = []): Answered {
  const violations = details.flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field }) => field));
  return { reason: details.find(({ reason }) => reason)?.reason, violations };
}

/** The four operations with nothing between the test and the wire. */
const BINDINGS: Record<
  string,
  (
    url: string,
    method: Method,
    params: Record<string, unknown>,
    headers?: Record<string, string>,
  ) => Promise<Answered>
> = {
  "JSON-RPC": async (url, method, params, headers = {}) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: METHODS[method], params });
    const response = await fetch(url, { method: "POST", headers: { ...JSON_BODY, ...headers }, body });
    const { result, error } = (await response.json()) as RpcAnswer;
    return error ? told(error.data) : { result: result as Answered["result"] & object };
  },
  "HTTP+JSON": async (url, method, { taskId, id, ...params }, headers = {}) => {
    const base = `${url}/tasks/${String(taskId)}/pushNotificationConfigs`;
    const query = new URLSearchParams(params as Record<string, string>).toString();
    const response = await {
      Create: () =>
        fetch(base, {
          method: "POST",
          headers: { ...JSON_BODY, ...headers },
          body: JSON.stringify(id === undefined ? params : { id, ...params }),
        }),
      Get: () => fetch(`${base}/${String(id)}`, { headers: { ...V1, ...headers } }),
      List: () => fetch(`${base}?${query}`, { headers: { ...V1, ...headers } }),
      Delete: () => fetch(`${base}/${String(id)}`, { method: "DELETE", headers: { ...V1, ...headers } }),
    }[method]();
    const json = (await response.json()) as { error?: { details?: ErrorDetail[] } };
    if (response.ok) expect(response.status).toBe(200);
    return json.error ? told(json.error.details) : { result: json };
  },
};

const folder = mkdtempSync(join(tmpdir(), "colloquy-"));
let files = 0;
const STORES: Record<string, () => NonNullable<ServerOptions["store"]>> = {
  memory: () => "memory",
  SQLite: () => `sqlite:${join(folder, `${++files}.db`)}`,
};
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

/** Says whose task it is by a header. */
const authenticate: ServerOptions["authenticate"] = ({ header }) => ({
  tenant: "",
  principal: header("x-user") ?? "anybody",
});

/** Works in steps that the test releases. */
class Stepper implements Agent {
  #next: (() => void) | undefined;

  describe(): { name: string; description: string } {
    return { name: "stepper", description: "Goes on when it is told to." };
  }

  async *execute({ message: { parts } }: Run): AsyncGenerator<AgentEvent> {
    yield { status: { state: "TASK_STATE_WORKING" } };
    for (let at = 0; at < parts.length; at++) {
      await new Promise<void>((resolve) => {
        this.#next = resolve;
      });
      yield { artifact: { artifactId: "a", parts: [{ text: `${at} ` }] }, append: at > 0 };
    }
  }

  step(): void {
    this.#next?.();
  }
}

async function serve(
  options: ServerOptions = {},
  agents: Record<string, Agent> = { parrot },
): Promise<{ url: string; server: Server; seen: PushSeen[] }> {
  const seen: PushSeen[] = [];
  const server = createServer(agents, {
    store: "memory",
    merge: false,
    push: { allowPrivate: true, retry: { firstMs: 5, mostMs: 20 } },
    observer: { onPush: (one) => seen.push(one) },
    ...options,
  });
  onTestFinished(() => server.close({ graceMs: 20 }));
  const {
    agents: [first],
  } = await server.listen();
  return { url: first?.url ?? "", server, seen };
}

async function rpc(
  url: string,
  method: string,
  params: object,
  headers: Record<string, string> = {},
): Promise<RpcAnswer> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return (await (
    await fetch(url, { method: "POST", headers: { ...JSON_BODY, ...headers }, body })
  ).json()) as RpcAnswer;
}

async function newTask(
  url: string,
  text = "echo x",
  configuration: object = {},
  headers = {},
): Promise<string> {
  const answer = await rpc(url, "SendMessage", { message: message(text), configuration }, headers);
  return answer.result?.task?.id ?? JSON.stringify(answer.error);
}

describe.each(Object.keys(STORES))("push notification configs on %s", (storeName) => {
  describe.each(Object.keys(BINDINGS))("over %s", (binding) => {
    const ask = BINDINGS[binding] as (typeof BINDINGS)[string];
    const store = STORES[storeName] as () => NonNullable<ServerOptions["store"]>;
    let url: string;
    let taskId: string;

    beforeEach(async () => {
      ({ url } = await serve({ store: store(), authenticate, push: {} }));
      taskId = await newTask(url);
    });

    it("are created with an id, also of their own, and read as they were given [I-01, I-02, I-10]", async () => {
      const given = {
        url: "https://192.88.98.1/hook",
        token: "t",
        authentication: { scheme: "Bearer", credentials: "secret" },
      };
      const { result: first } = await ask(url, "Create", { taskId, ...given });
      expect(first).toEqual({ ...given, taskId, id: expect.stringMatching(/.{8,}/) as string });
      const { result: second } = await ask(url, "Create", { taskId, id: "mine", ...given });
      expect(second).toEqual({ ...given, taskId, id: "mine" });
      expect(await ask(url, "Get", { taskId, id: first?.id })).toEqual({ result: first });
      expect(await ask(url, "List", { taskId })).toEqual({ result: { configs: [first, second] } });
    });

    it("take the place of one with the same id [I-01]", async () => {
      await ask(url, "Create", { taskId, id: "c", url: "https://1.1.1.1/old" });
      await ask(url, "Create", { taskId, id: "c", url: "https://1.1.1.1/new" });
      expect((await ask(url, "List", { taskId })).result).toMatchObject({
        configs: [{ id: "c", url: "https://1.1.1.1/new" }],
      });
    });

    it("are listed in pages [I-03]", async () => {
      for (const id of ["a", "b", "c"]) await ask(url, "Create", { taskId, id, url: "https://1.1.1.1/" });
      const first = (await ask(url, "List", { taskId, pageSize: 2 })).result;
      expect(first).toMatchObject({ configs: [{ id: "a" }, { id: "b" }] });
      const { nextPageToken } = first as { nextPageToken: string };
      const second = (await ask(url, "List", { taskId, pageSize: 2, pageToken: nextPageToken })).result;
      expect(second).toEqual({ configs: [{ taskId, id: "c", url: "https://1.1.1.1/" }] });
      expect((await ask(url, "List", { taskId, pageToken: "junk" })).violations).toEqual(["pageToken"]);
    });

    it("are deleted, and once more without complaint [I-03, D-07]", async () => {
      await ask(url, "Create", { taskId, id: "c", url: "https://1.1.1.1/" });
      expect(await ask(url, "Delete", { taskId, id: "c" })).toEqual({ result: {} });
      expect(await ask(url, "Delete", { taskId, id: "c" })).toEqual({ result: {} });
      expect(await ask(url, "List", { taskId })).toEqual({ result: { configs: [] } });
    });

    it("that are not there are not found, like tasks [I-03]", async () => {
      expect((await ask(url, "Get", { taskId, id: "nope" })).reason).toBe("TASK_NOT_FOUND");
    });

    it("of somebody else's task are those of no task [I-03, I-11, E13]", async () => {
      await ask(url, "Create", { taskId, id: "c", url: "https://1.1.1.1/" });
      const stranger = { "x-user": "mallory" };
      const asked: [Method, object][] = [
        ["Create", { url: "https://1.1.1.1/" }],
        ["Get", { id: "c" }],
        ["List", {}],
        ["Delete", { id: "c" }],
      ];
      for (const [method, params] of asked) {
        const his = await ask(url, method, { taskId, ...params }, stranger);
        expect(his.reason).toBe("TASK_NOT_FOUND");
        const unknown = await ask(url, method, { taskId: "0", ...params }, stranger);
        expect(unknown).toEqual(his);
      }
      expect((await ask(url, "List", { taskId })).result).toMatchObject({ configs: [{ id: "c" }] });
    });

    it("are refused for receivers in private networks, and for what can not be posted to [I-09]", async () => {
      const wrong: [object, string][] = [
        [{ url: "http://127.0.0.1:1/" }, "url"],
        [{ url: "http://169.254.169.254/latest/meta-data" }, "url"],
        [{ url: "https://localhost./" }, "url"],
        [{ url: "notaurl" }, "url"],
        [{}, "url"],
        [{ url: "https://1.1.1.1/", token: "a\r\nb: c" }, "token"],
        [
          { url: "https://1.1.1.1/", authentication: { scheme: "Bea rer", credentials: "x" } },
          "authentication.scheme",
        ],
        [
          { url: "https://1.1.1.1/", authentication: { scheme: "Basic", credentials: "a\nb" } },
          "authentication.credentials",
        ],
      ];
      for (const [config, field] of wrong)
        expect((await ask(url, "Create", { taskId, ...config })).violations).toEqual([field]);
      expect((await ask(url, "List", { taskId })).result).toEqual({ configs: [] });
    });
  });

  it("survive a restart when the store does, as their tasks do [I-02]", async () => {
    const store = (STORES[storeName] as () => NonNullable<ServerOptions["store"]>)();
    if (store === "memory") return;
    const ask = BINDINGS["JSON-RPC"] as (typeof BINDINGS)[string];
    const before = await serve({ store });
    const taskId = await newTask(before.url);
    const { result } = await ask(before.url, "Create", { taskId, url: "https://1.1.1.1/" });
    await before.server.close();
    const after = await serve({ store });
    expect(await ask(after.url, "List", { taskId })).toEqual({ result: { configs: [result] } });
  });

  describe("are served", () => {
    const store = STORES[storeName] as () => NonNullable<ServerOptions["store"]>;
    let receiver: Receiver;

    beforeEach(async () => {
      receiver = await new Receiver().listen();
    });
    afterEach(() => receiver.close());

    it("with every event of the task that they came with, in order, as a StreamResponse [I-04, I-05, I-06, I-08, F-13, E12]", async () => {
      const { url } = await serve({ store: store() });
      const taskPushNotificationConfig = {
        url: receiver.url("/hook?a=1"),
        token: "tok",
        authentication: { scheme: "bEARER", credentials: "secret" },
      };
      const taskId = await newTask(url, "chunks 3", { taskPushNotificationConfig });
      await receiver.until(6);
      for (const { method, path, headers } of receiver.posted) {
        expect([method, path]).toEqual(["POST", "/hook?a=1"]);
        expect(headers).toMatchObject({
          "content-type": "application/a2a+json",
          "a2a-version": "1.0",
          authorization: "bEARER secret",
          "x-a2a-notification-token": "tok",
        });
      }
      const artifact = { artifactId: "a" };
      expect(receiver.posted.map(({ json }) => json)).toMatchObject([
        { task: { id: taskId, status: { state: "TASK_STATE_SUBMITTED" } } },
        { statusUpdate: { taskId, status: { state: "TASK_STATE_WORKING" } } },
        { artifactUpdate: { taskId, artifact: { ...artifact, parts: [{ text: "0 " }] } } },
        { artifactUpdate: { taskId, artifact: { ...artifact, parts: [{ text: "1 " }] } } },
        { artifactUpdate: { taskId, artifact: { ...artifact, parts: [{ text: "2 " }] } } },
        { statusUpdate: { taskId, status: { state: "TASK_STATE_COMPLETED" } } },
      ]);
    });

    it("with what happens after their registration only, and not with the user's messages", async () => {
      const { url } = await serve({ store: store() });
      const taskId = await newTask(url, "ask");
      const ask = BINDINGS["JSON-RPC"] as (typeof BINDINGS)[string];
      await ask(url, "Create", { taskId, url: receiver.url() });
      await rpc(url, "SendMessage", { message: message("echo x", { taskId }) });
      await receiver.until(3);
      expect(receiver.posted.map(({ json }) => Object.keys(json))).toEqual([
        ["statusUpdate"],
        ["artifactUpdate"],
        ["statusUpdate"],
      ]);
      expect(receiver.posted[2]?.json).toMatchObject({
        statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } },
      });
    });

    it("once per webhook: a bad one is no other's problem, nor the task's [I-07, E12]", async () => {
      const stepper = new Stepper();
      const { url } = await serve({ store: store() }, { stepper });
      const bad = await new Receiver().listen();
      onTestFinished(() => bad.close());
      bad.otherwise = "hang";
      const started = await rpc(url, "SendMessage", {
        message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "1" }, { text: "2" }] },
        configuration: { returnImmediately: true, taskPushNotificationConfig: { url: bad.url() } },
      });
      const taskId = started.result?.task?.id ?? "";
      const ask = BINDINGS["JSON-RPC"] as (typeof BINDINGS)[string];
      await ask(url, "Create", { taskId, url: receiver.url() });
      await bad.until(1);
      stepper.step();
      await receiver.until((posted) => posted.length > 0);
      while (!receiver.posted.some(({ json }) => JSON.stringify(json).includes("COMPLETED"))) {
        stepper.step();
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
      const { result } = await rpc(url, "GetTask", { id: taskId });
      expect(result).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
      expect(bad.posted).toHaveLength(1);
    });

    it("again until they answer with success, then with the rest [I-07, E12]", async () => {
      const { url, seen } = await serve({ store: store() });
      receiver.answers.push(
        "cut",
        503,
        500,
        { status: 302, headers: { location: receiver.url("/other") } },
        404,
      );
      await newTask(url, "echo x", { taskPushNotificationConfig: { url: receiver.url() } });
      await receiver.until(9);
      const kinds = receiver.posted.map(({ json }) => Object.keys(json)[0]);
      const tries = ["task", "task", "task", "task", "task"];
      expect(kinds).toEqual([...tries, "task", "statusUpdate", "artifactUpdate", "statusUpdate"]);
      expect(receiver.posted.every(({ path }) => path === "/hook")).toBe(true);
      expect(seen.slice(0, 5).map(({ outcome, reason }) => `${outcome}: ${reason}`)).toEqual([
        "failed: The receiver can not be reached: ECONNRESET.",
        "failed: The receiver answered HTTP 503.",
        "failed: The receiver answered HTTP 500.",
        "failed: The receiver answered HTTP 302; redirects are not followed.",
        "failed: The receiver answered HTTP 404.",
      ]);
    });

    it("until they say that they are gone, which is told and kept [E12]", async () => {
      const { url, seen, server } = await serve({ store: store() });
      receiver.answers.push(200, 410);
      const taskId = await newTask(url, "echo x", { taskPushNotificationConfig: { url: receiver.url() } });
      await receiver.until(2);
      await expect.poll(() => seen.at(-1)?.outcome).toBe("dead");
      await expect
        .poll(() => server.store.push?.dead(10))
        .toMatchObject([{ taskId, delivered: 1, dead: { reason: "The receiver answered HTTP 410." } }]);
      expect(receiver.posted).toHaveLength(2);
    });

    it("no more once they are deleted [I-03]", async () => {
      const stepper = new Stepper();
      const { url } = await serve({ store: store() }, { stepper });
      const started = await rpc(url, "SendMessage", {
        message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "1" }, { text: "2" }] },
        configuration: {
          returnImmediately: true,
          taskPushNotificationConfig: { id: "c", url: receiver.url() },
        },
      });
      const taskId = started.result?.task?.id ?? "";
      await receiver.until(2);
      const ask = BINDINGS["JSON-RPC"] as (typeof BINDINGS)[string];
      await ask(url, "Delete", { taskId, id: "c" });
      await ask(url, "Create", { taskId, id: "d", url: receiver.url("/other") });
      stepper.step();
      await receiver.until(3);
      expect(receiver.posted.map(({ path }) => path)).toEqual(["/hook", "/hook", "/other"]);
    });
  });
});

describe("a server", () => {
  it("that sends no push notifications does not offer them [H-01]", async () => {
    const { url } = await serve({ push: false });
    const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as {
      capabilities: object;
    };
    expect(card.capabilities).not.toHaveProperty("pushNotifications");
    for (const ask of Object.values(BINDINGS))
      expect((await ask(url, "List", { taskId: "x" })).reason).toBe("PUSH_NOTIFICATION_NOT_SUPPORTED");
  });

  it("keeps the secrets of webhooks to itself when it is told to [I-10]", async () => {
    const { url } = await serve({ push: { redact: true } });
    const taskId = await newTask(url);
    const config = { id: "c", url: "https://1.1.1.1/" };
    const secrets = { token: "t", authentication: { scheme: "Bearer", credentials: "secret" } };
    for (const ask of Object.values(BINDINGS)) {
      const open = { ...config, taskId, authentication: { scheme: "Bearer" } };
      expect(await ask(url, "Create", { taskId, ...config, ...secrets })).toEqual({ result: open });
      expect(await ask(url, "Get", { taskId, id: "c" })).toEqual({ result: open });
      expect(await ask(url, "List", { taskId })).toEqual({ result: { configs: [open] } });
    }
  });

  it("refuses a message whose webhook it would not serve, and does not begin its task [F-13, I-09]", async () => {
    const { url } = await serve({ push: {} });
    const { error } = await rpc(url, "SendMessage", {
      message: message("echo x"),
      configuration: { taskPushNotificationConfig: { url: "http://10.0.0.1/", token: "" } },
    });
    expect(told(error?.data).violations).toEqual(["configuration.taskPushNotificationConfig.url"]);
    expect((await rpc(url, "ListTasks", {})).result).toMatchObject({ tasks: [] });
  });

  it("registers the webhook of a client that sends it with each message only once", async () => {
    const { url } = await serve({ push: { allowPrivate: true } });
    const configuration = { taskPushNotificationConfig: { url: "http://127.0.0.1:9/" } };
    const taskId = await newTask(url, "ask", configuration);
    await rpc(url, "SendMessage", { message: message("echo x", { taskId }), configuration });
    const { result } = await rpc(url, "ListTaskPushNotificationConfigs", { taskId });
    expect(result).toMatchObject({ configs: [{ id: taskId }] });
  });
});
