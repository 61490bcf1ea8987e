import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Agent, AgentEvent, PushDeliveryReport, Run } from "../../engine/index.ts";
import type { TaskPushNotificationConfig } from "../../protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "../index.ts";
import {
  V1_JSON_TEST_HEADERS,
  buildTestMessage,
  messageCommandTestAgent,
  V1_TEST_HEADERS,
  type JsonRpcTestResponse,
} from "../server.fixture.ts";
import { TestWebhookReceiver } from "./test-webhook-receiver.fixture.ts";

type ConfigMethod = "Create" | "Get" | "List" | "Delete";
interface ConfigResponse {
  readonly result?: Record<string, unknown> & Partial<TaskPushNotificationConfig>;
  readonly reason?: string | undefined;
  readonly violations?: string[];
}

const OPERATION_BY_METHOD: Record<ConfigMethod, string> = {
  Create: "CreateTaskPushNotificationConfig",
  Get: "GetTaskPushNotificationConfig",
  List: "ListTaskPushNotificationConfigs",
  Delete: "DeleteTaskPushNotificationConfig",
};

interface ErrorDetail {
  reason?: string;
  fieldViolations?: { field: string }[];
}

function toErrorResponse(details: ErrorDetail[] = []): ConfigResponse {
  const violations = details.flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field }) => field));
  return { reason: details.find(({ reason }) => reason)?.reason, violations };
}

/** The four push configuration operations, as raw requests. */
const REQUEST_BY_BINDING: Record<
  string,
  (
    url: string,
    method: ConfigMethod,
    params: Record<string, unknown>,
    headers?: Record<string, string>,
  ) => Promise<ConfigResponse>
> = {
  "JSON-RPC": async (url, method, params, headers = {}) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: OPERATION_BY_METHOD[method], params });
    const response = await fetch(url, {
      method: "POST",
      headers: { ...V1_JSON_TEST_HEADERS, ...headers },
      body,
    });
    const { result, error } = (await response.json()) as JsonRpcTestResponse;
    return error ? toErrorResponse(error.data) : { result: result as ConfigResponse["result"] & object };
  },
  "HTTP+JSON": async (url, method, { taskId, id, ...params }, headers = {}) => {
    const base = `${url}/tasks/${String(taskId)}/pushNotificationConfigs`;
    const query = new URLSearchParams(params as Record<string, string>).toString();
    const response = await {
      Create: () =>
        fetch(base, {
          method: "POST",
          headers: { ...V1_JSON_TEST_HEADERS, ...headers },
          body: JSON.stringify(id === undefined ? params : { id, ...params }),
        }),
      Get: () => fetch(`${base}/${String(id)}`, { headers: { ...V1_TEST_HEADERS, ...headers } }),
      List: () => fetch(`${base}?${query}`, { headers: { ...V1_TEST_HEADERS, ...headers } }),
      Delete: () =>
        fetch(`${base}/${String(id)}`, { method: "DELETE", headers: { ...V1_TEST_HEADERS, ...headers } }),
    }[method]();
    const json = (await response.json()) as { error?: { details?: ErrorDetail[] } };
    if (response.ok) expect(response.status).toBe(200);
    return json.error ? toErrorResponse(json.error.details) : { result: json };
  },
};

const databaseFolder = mkdtempSync(join(tmpdir(), "colloquy-"));
let databaseCount = 0;
const STORES: Record<string, () => NonNullable<ServerOptions["store"]>> = {
  memory: () => "memory",
  SQLite: () => `sqlite:${join(databaseFolder, `${++databaseCount}.db`)}`,
};
process.once("exit", () => rmSync(databaseFolder, { recursive: true, force: true }));

/** Authenticates the caller with a header. */
const authenticateByHeader: ServerOptions["authenticate"] = ({ header }) => ({
  tenant: "",
  principal: header("x-user") ?? "anybody",
});

/** An agent whose steps the test releases. */
class SteppedAgent implements Agent {
  #releaseStep: (() => void) | undefined;

  describe(): { name: string; description: string } {
    return { name: "stepper", description: "Goes on when it is told to." };
  }

  async *execute({ message: { parts } }: Run): AsyncGenerator<AgentEvent> {
    yield { status: { state: "TASK_STATE_WORKING" } };
    for (let at = 0; at < parts.length; at++) {
      await new Promise<void>((resolve) => {
        this.#releaseStep = resolve;
      });
      yield { artifact: { artifactId: "a", parts: [{ text: `${at} ` }] }, append: at > 0 };
    }
  }

  releaseStep(): void {
    this.#releaseStep?.();
  }
}

async function startServer(
  options: ServerOptions = {},
  agents: Record<string, Agent> = { parrot: messageCommandTestAgent },
): Promise<{ url: string; server: Server; seen: PushDeliveryReport[] }> {
  const seen: PushDeliveryReport[] = [];
  const server = createServer(agents, {
    store: "memory",
    mergeChunks: false,
    push: { allowPrivate: true, retry: { initialDelayMs: 5, maxDelayMs: 20 } },
    observer: { onPush: (one) => seen.push(one) },
    ...options,
  });
  onTestFinished(() => server.close({ graceMs: 20 }));
  const {
    agents: [first],
  } = await server.listen();
  return { url: first?.url ?? "", server, seen };
}

async function sendJsonRpc(
  url: string,
  method: string,
  params: object,
  headers: Record<string, string> = {},
): Promise<JsonRpcTestResponse> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return (await (
    await fetch(url, { method: "POST", headers: { ...V1_JSON_TEST_HEADERS, ...headers }, body })
  ).json()) as JsonRpcTestResponse;
}

async function createTask(
  url: string,
  text = "echo x",
  configuration: object = {},
  headers = {},
): Promise<string> {
  const answer = await sendJsonRpc(
    url,
    "SendMessage",
    { message: buildTestMessage(text), configuration },
    headers,
  );
  return answer.result?.task?.id ?? JSON.stringify(answer.error);
}

describe.each(Object.keys(STORES))("push notification configs on %s", (storeName) => {
  describe.each(Object.keys(REQUEST_BY_BINDING))("over %s", (binding) => {
    const ask = REQUEST_BY_BINDING[binding] as (typeof REQUEST_BY_BINDING)[string];
    const store = STORES[storeName] as () => NonNullable<ServerOptions["store"]>;
    let url: string;
    let taskId: string;

    beforeEach(async () => {
      ({ url } = await startServer({ store: store(), authenticate: authenticateByHeader, push: {} }));
      taskId = await createTask(url);
    });

    it("are created with a given or generated id, and returned unchanged [I-01, I-02, I-10]", async () => {
      const config = {
        url: "https://192.88.98.1/hook",
        token: "t",
        authentication: { scheme: "Bearer", credentials: "secret" },
      };
      const { result: first } = await ask(url, "Create", { taskId, ...config });
      expect(first).toEqual({ ...config, taskId, id: expect.stringMatching(/.{8,}/) as string });
      const { result: second } = await ask(url, "Create", { taskId, id: "mine", ...config });
      expect(second).toEqual({ ...config, taskId, id: "mine" });
      expect(await ask(url, "Get", { taskId, id: first?.id })).toEqual({ result: first });
      expect(await ask(url, "List", { taskId })).toEqual({ result: { configs: [first, second] } });
    });

    it("replace a configuration with the same id [I-01]", async () => {
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

    it("can be deleted twice without an error [I-03, D-07]", async () => {
      await ask(url, "Create", { taskId, id: "c", url: "https://1.1.1.1/" });
      expect(await ask(url, "Delete", { taskId, id: "c" })).toEqual({ result: {} });
      expect(await ask(url, "Delete", { taskId, id: "c" })).toEqual({ result: {} });
      expect(await ask(url, "List", { taskId })).toEqual({ result: { configs: [] } });
    });

    it("that do not exist return TASK_NOT_FOUND [I-03]", async () => {
      expect((await ask(url, "Get", { taskId, id: "nope" })).reason).toBe("TASK_NOT_FOUND");
    });

    it("of another caller's task return TASK_NOT_FOUND [I-03, I-11, E13]", async () => {
      await ask(url, "Create", { taskId, id: "c", url: "https://1.1.1.1/" });
      const stranger = { "x-user": "mallory" };
      const requests: [ConfigMethod, object][] = [
        ["Create", { url: "https://1.1.1.1/" }],
        ["Get", { id: "c" }],
        ["List", {}],
        ["Delete", { id: "c" }],
      ];
      for (const [method, params] of requests) {
        const his = await ask(url, method, { taskId, ...params }, stranger);
        expect(his.reason).toBe("TASK_NOT_FOUND");
        const unknown = await ask(url, method, { taskId: "0", ...params }, stranger);
        expect(unknown).toEqual(his);
      }
      expect((await ask(url, "List", { taskId })).result).toMatchObject({ configs: [{ id: "c" }] });
    });

    it("are rejected for private hosts and invalid URLs [I-09]", async () => {
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

  it("survive a restart with a durable store [I-02]", async () => {
    const store = (STORES[storeName] as () => NonNullable<ServerOptions["store"]>)();
    if (store === "memory") return;
    const ask = REQUEST_BY_BINDING["JSON-RPC"] as (typeof REQUEST_BY_BINDING)[string];
    const before = await startServer({ store });
    const taskId = await createTask(before.url);
    const { result } = await ask(before.url, "Create", { taskId, url: "https://1.1.1.1/" });
    await before.server.close();
    const after = await startServer({ store });
    expect(await ask(after.url, "List", { taskId })).toEqual({ result: { configs: [result] } });
  });

  describe("receive notifications", () => {
    const store = STORES[storeName] as () => NonNullable<ServerOptions["store"]>;
    let receiver: TestWebhookReceiver;

    beforeEach(async () => {
      receiver = await new TestWebhookReceiver().listen();
    });
    afterEach(() => receiver.close());

    it("with every event of their task, in order, as a StreamResponse [I-04, I-05, I-06, I-08, F-13, E12]", async () => {
      const { url } = await startServer({ store: store() });
      const taskPushNotificationConfig = {
        url: receiver.url("/hook?a=1"),
        token: "tok",
        authentication: { scheme: "bEARER", credentials: "secret" },
      };
      const taskId = await createTask(url, "chunks 3", { taskPushNotificationConfig });
      await receiver.waitForRequests(6);
      for (const { method, path, headers } of receiver.requests) {
        expect([method, path]).toEqual(["POST", "/hook?a=1"]);
        expect(headers).toMatchObject({
          "content-type": "application/a2a+json",
          "a2a-version": "1.0",
          authorization: "bEARER secret",
          "x-a2a-notification-token": "tok",
        });
      }
      const artifact = { artifactId: "a" };
      expect(receiver.requests.map(({ json }) => json)).toMatchObject([
        { task: { id: taskId, status: { state: "TASK_STATE_SUBMITTED" } } },
        { statusUpdate: { taskId, status: { state: "TASK_STATE_WORKING" } } },
        { artifactUpdate: { taskId, artifact: { ...artifact, parts: [{ text: "0 " }] } } },
        { artifactUpdate: { taskId, artifact: { ...artifact, parts: [{ text: "1 " }] } } },
        { artifactUpdate: { taskId, artifact: { ...artifact, parts: [{ text: "2 " }] } } },
        { statusUpdate: { taskId, status: { state: "TASK_STATE_COMPLETED" } } },
      ]);
    });

    it("only for events after their registration, without the user's messages", async () => {
      const { url } = await startServer({ store: store() });
      const taskId = await createTask(url, "ask");
      const ask = REQUEST_BY_BINDING["JSON-RPC"] as (typeof REQUEST_BY_BINDING)[string];
      await ask(url, "Create", { taskId, url: receiver.url() });
      await sendJsonRpc(url, "SendMessage", { message: buildTestMessage("echo x", { taskId }) });
      await receiver.waitForRequests(3);
      expect(receiver.requests.map(({ json }) => Object.keys(json))).toEqual([
        ["statusUpdate"],
        ["artifactUpdate"],
        ["statusUpdate"],
      ]);
      expect(receiver.requests[2]?.json).toMatchObject({
        statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } },
      });
    });

    it("independently: a failing webhook does not affect other webhooks or the task [I-07, E12]", async () => {
      const stepper = new SteppedAgent();
      const { url } = await startServer({ store: store() }, { stepper });
      const bad = await new TestWebhookReceiver().listen();
      onTestFinished(() => bad.close());
      bad.defaultResponse = "hang";
      const started = await sendJsonRpc(url, "SendMessage", {
        message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "1" }, { text: "2" }] },
        configuration: { returnImmediately: true, taskPushNotificationConfig: { url: bad.url() } },
      });
      const taskId = started.result?.task?.id ?? "";
      const ask = REQUEST_BY_BINDING["JSON-RPC"] as (typeof REQUEST_BY_BINDING)[string];
      await ask(url, "Create", { taskId, url: receiver.url() });
      await bad.waitForRequests(1);
      stepper.releaseStep();
      await receiver.waitForRequests((posted) => posted.length > 0);
      while (!receiver.requests.some(({ json }) => JSON.stringify(json).includes("COMPLETED"))) {
        stepper.releaseStep();
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
      const { result } = await sendJsonRpc(url, "GetTask", { id: taskId });
      expect(result).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
      expect(bad.requests).toHaveLength(1);
    });

    it("again until they return success, and then the next events [I-07, E12]", async () => {
      const { url, seen } = await startServer({ store: store() });
      receiver.queuedResponses.push(
        "cut",
        503,
        500,
        { status: 302, headers: { location: receiver.url("/other") } },
        404,
      );
      await createTask(url, "echo x", { taskPushNotificationConfig: { url: receiver.url() } });
      await receiver.waitForRequests(9);
      const kinds = receiver.requests.map(({ json }) => Object.keys(json)[0]);
      const tries = ["task", "task", "task", "task", "task"];
      expect(kinds).toEqual([...tries, "task", "statusUpdate", "artifactUpdate", "statusUpdate"]);
      expect(receiver.requests.every(({ path }) => path === "/hook")).toBe(true);
      expect(seen.slice(0, 5).map(({ outcome, reason }) => `${outcome}: ${reason}`)).toEqual([
        "failed: The receiver is not reachable: ECONNRESET.",
        "failed: The receiver returned HTTP 503.",
        "failed: The receiver returned HTTP 500.",
        "failed: The receiver returned HTTP 302; redirects are not followed.",
        "failed: The receiver returned HTTP 404.",
      ]);
    });

    it("until they return 410, which is reported and stored [E12]", async () => {
      const { url, seen, server } = await startServer({ store: store() });
      receiver.queuedResponses.push(200, 410);
      const taskId = await createTask(url, "echo x", { taskPushNotificationConfig: { url: receiver.url() } });
      await receiver.waitForRequests(2);
      await expect.poll(() => seen.at(-1)?.outcome).toBe("dead");
      await expect
        .poll(() => server.store.pushStore?.listDeadWebhooks(10))
        .toMatchObject([
          { taskId, deliveredSeq: 1, deadLetter: { reason: "The receiver returned HTTP 410." } },
        ]);
      expect(receiver.requests).toHaveLength(2);
    });

    it("no longer after they are deleted [I-03]", async () => {
      const stepper = new SteppedAgent();
      const { url } = await startServer({ store: store() }, { stepper });
      const started = await sendJsonRpc(url, "SendMessage", {
        message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "1" }, { text: "2" }] },
        configuration: {
          returnImmediately: true,
          taskPushNotificationConfig: { id: "c", url: receiver.url() },
        },
      });
      const taskId = started.result?.task?.id ?? "";
      await receiver.waitForRequests(2);
      const ask = REQUEST_BY_BINDING["JSON-RPC"] as (typeof REQUEST_BY_BINDING)[string];
      await ask(url, "Delete", { taskId, id: "c" });
      await ask(url, "Create", { taskId, id: "d", url: receiver.url("/other") });
      stepper.releaseStep();
      await receiver.waitForRequests(3);
      expect(receiver.requests.map(({ path }) => path)).toEqual(["/hook", "/hook", "/other"]);
    });
  });
});

describe("a server", () => {
  it("without push notifications does not declare them [H-01]", async () => {
    const { url } = await startServer({ push: false });
    const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as {
      capabilities: object;
    };
    expect(card.capabilities).not.toHaveProperty("pushNotifications");
    for (const ask of Object.values(REQUEST_BY_BINDING))
      expect((await ask(url, "List", { taskId: "x" })).reason).toBe("PUSH_NOTIFICATION_NOT_SUPPORTED");
  });

  it("redacts the secrets of webhooks when configured [I-10]", async () => {
    const { url } = await startServer({ push: { redactSecrets: true } });
    const taskId = await createTask(url);
    const config = { id: "c", url: "https://1.1.1.1/" };
    const secrets = { token: "t", authentication: { scheme: "Bearer", credentials: "secret" } };
    for (const ask of Object.values(REQUEST_BY_BINDING)) {
      const open = { ...config, taskId, authentication: { scheme: "Bearer" } };
      expect(await ask(url, "Create", { taskId, ...config, ...secrets })).toEqual({ result: open });
      expect(await ask(url, "Get", { taskId, id: "c" })).toEqual({ result: open });
      expect(await ask(url, "List", { taskId })).toEqual({ result: { configs: [open] } });
    }
  });

  it("rejects a message with an invalid webhook, and creates no task [F-13, I-09]", async () => {
    const { url } = await startServer({ push: {} });
    const { error } = await sendJsonRpc(url, "SendMessage", {
      message: buildTestMessage("echo x"),
      configuration: { taskPushNotificationConfig: { url: "http://10.0.0.1/", token: "" } },
    });
    expect(toErrorResponse(error?.data).violations).toEqual(["configuration.taskPushNotificationConfig.url"]);
    expect((await sendJsonRpc(url, "ListTasks", {})).result).toMatchObject({ tasks: [] });
  });

  it("registers a webhook once when every message contains it", async () => {
    const { url } = await startServer({ push: { allowPrivate: true } });
    const configuration = { taskPushNotificationConfig: { url: "http://127.0.0.1:9/" } };
    const taskId = await createTask(url, "ask", configuration);
    await sendJsonRpc(url, "SendMessage", { message: buildTestMessage("echo x", { taskId }), configuration });
    const { result } = await sendJsonRpc(url, "ListTaskPushNotificationConfigs", { taskId });
    expect(result).toMatchObject({ configs: [{ id: taskId }] });
  });
});
