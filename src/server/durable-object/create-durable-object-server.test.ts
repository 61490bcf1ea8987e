import { describe, expect, it, onTestFinished, vi } from "vitest";
import { systemClock, type Agent, type AgentEvent } from "../../engine/index.ts";
import type { Task } from "../../protocol/index.ts";
import { TestDurableObjectStorage } from "../../stores/durable-object/durable-object-storage.fixture.ts";
import { TestWebhookReceiver } from "../push/test-webhook-receiver.fixture.ts";
import { buildTestMessage, V1_JSON_TEST_HEADERS, V1_TEST_HEADERS } from "../server.fixture.ts";
import {
  createDurableObjectServer,
  type DurableObjectServer,
  type DurableObjectServerOptions,
} from "./create-durable-object-server.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const SCOPE = { tenant: "", principal: "", agent: "phoenix" };
const DESCRIPTION = { name: "phoenix", description: "Starts again after the process has died." };

/** An agent whose turn never ends, as if its process had died. */
const stuckAgent: Agent = {
  describe: () => DESCRIPTION,
  afterRestart: "restart",
  async *execute(): AsyncGenerator<AgentEvent> {
    yield { status: { state: "TASK_STATE_WORKING" } };
    await new Promise(() => {});
  },
};

const answeringAgent: Agent = {
  describe: () => DESCRIPTION,
  afterRestart: "restart",
  async *execute(): AsyncGenerator<AgentEvent> {
    yield { artifact: { artifactId: "a", parts: [{ text: "whole" }] } };
  },
};

/** An agent that writes after its signal has aborted, and never returns. */
const ignoringAgent: Agent = {
  describe: () => DESCRIPTION,
  afterRestart: "restart",
  async *execute({ signal }): AsyncGenerator<AgentEvent> {
    yield { status: { state: "TASK_STATE_WORKING" } };
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    yield { artifact: { artifactId: "a", parts: [{ text: "late" }] } };
    await new Promise(() => {});
  },
};

/** The server of a new process on the storage of an object. */
function startProcess(
  storage: TestDurableObjectStorage,
  phoenix: Agent,
  options: DurableObjectServerOptions = {},
): DurableObjectServer & { readonly running: Promise<unknown>[] } {
  const running: Promise<unknown>[] = [];
  const context = { storage, waitUntil: (work: Promise<unknown>): void => void running.push(work) };
  const server = createDurableObjectServer(context, { phoenix }, { observer: false, ...options });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return { ...server, running };
}

async function sendMessage(
  server: DurableObjectServer,
  configuration: object,
): Promise<{ readonly status: number; readonly task: Task }> {
  const response = await server.fetch(
    new Request("https://agents.example/message:send", {
      method: "POST",
      headers: V1_JSON_TEST_HEADERS,
      body: JSON.stringify({ message: buildTestMessage("begin"), configuration }),
    }),
  );
  const { task } = (await response.json()) as { task: Task };
  return { status: response.status, task };
}

async function readTask(server: DurableObjectServer, taskId: string): Promise<Task> {
  const url = `https://agents.example/tasks/${taskId}`;
  const response = await server.fetch(new Request(url, { headers: V1_TEST_HEADERS }));
  return (await response.json()) as Task;
}

describe("a server in a Durable Object", () => {
  it("keeps the object running until its agents have ended", async () => {
    const server = startProcess(new TestDurableObjectStorage(), answeringAgent);
    const { task } = await sendMessage(server, { returnImmediately: true });
    expect(server.running.length).toBeGreaterThan(0);
    await Promise.all(server.running);
    expect((await readTask(server, task.id)).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("continues the turn of a dead process by its alarm, and then needs no alarm soon [E9]", async () => {
    const storage = new TestDurableObjectStorage();
    const { task } = await sendMessage(startProcess(storage, stuckAgent), { returnImmediately: true });
    const recoveryTime = storage.alarmTime;
    expect(recoveryTime).not.toBeNull();

    const next = startProcess(storage, answeringAgent);
    await next.alarm();
    expect(await readTask(next, task.id)).toMatchObject({
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ parts: [{ text: "whole" }] }],
    });
    // Only the daily sweep is left.
    expect(storage.alarmTime).toBeGreaterThan(Date.now() + 3_600_000);
  });

  it.each([
    ["never returns", stuckAgent, undefined],
    ["ignores its signal", ignoringAgent, [{ parts: [{ text: "late" }] }]],
  ] as const)(
    "fails the turn of an agent that %s, also in a later process [E24]",
    async (_, phoenix, artifacts) => {
      const storage = new TestDurableObjectStorage();
      const limits = { maxSilenceMs: 200, cancelGraceMs: 50 };
      const text =
        "The server stopped the agent, because it showed no progress for 0.2 seconds (maxSilenceMs).";
      const failed = { status: { state: "TASK_STATE_FAILED", message: { parts: [{ text }] } } };
      const limited = startProcess(storage, phoenix, limits);
      const { task: first } = await sendMessage(limited, {});
      expect(first).toMatchObject(artifacts ? { ...failed, artifacts } : failed);
      const { task } = await sendMessage(startProcess(storage, phoenix), { returnImmediately: true });
      const next = startProcess(storage, phoenix, limits);
      await next.alarm();
      await expect.poll(() => readTask(next, task.id)).toMatchObject(failed);
    },
  );

  it("waits for a day by its alarms if the clock seems to be 40 days ahead [E14]", async () => {
    const storage = new TestDurableObjectStorage();
    const realClock = { ...systemClock };
    let offsetMs = 0;
    const clock = vi.spyOn(systemClock, "now").mockImplementation(() => realClock.now() + offsetMs);
    onTestFinished(() => clock.mockRestore());
    const alarmInNewProcess = async (afterMs: number): Promise<number> => {
      offsetMs += afterMs;
      const server = startProcess(storage, answeringAgent);
      await server.alarm();
      const { tasks } = await server.store.list(SCOPE, { limit: 10 });
      await server.close({ graceMs: 0 });
      return tasks.length;
    };
    const first = startProcess(storage, answeringAgent);
    await sendMessage(first, {});
    await first.alarm();
    await first.close({ graceMs: 0 });
    expect(await alarmInNewProcess(DAY_MS)).toBe(1);
    expect(await alarmInNewProcess(40 * DAY_MS)).toBe(1);
    expect(await alarmInNewProcess(DAY_MS)).toBe(0);
  });

  it("sets no alarm for sweeps without retention", async () => {
    const storage = new TestDurableObjectStorage();
    const server = startProcess(storage, answeringAgent, { retention: false });
    await sendMessage(server, {});
    await server.alarm();
    expect(storage.alarmTime).toBeNull();
  });

  it("delivers the push notifications of a dead process by its alarm [I-04]", async () => {
    const receiver = await new TestWebhookReceiver().listen();
    onTestFinished(() => receiver.close());
    const storage = new TestDurableObjectStorage();
    const push = { allowPrivate: true };
    const { task } = await sendMessage(startProcess(storage, stuckAgent, { push }), {
      returnImmediately: true,
      taskPushNotificationConfig: { url: receiver.url() },
    });
    await startProcess(storage, answeringAgent, { push }).alarm();
    await receiver.waitForRequests((requests) =>
      requests.some(({ body }) => body.includes("TASK_STATE_COMPLETED")),
    );
    const ids = new Set(receiver.requests.map(({ headers }) => String(headers["x-a2a-notification-id"])));
    expect([...ids].toSorted((a, b) => a.localeCompare(b))).toEqual(
      [...ids].map((_, at) => `${task.id}:${at + 1}`),
    );
  });

  it("refuses webhooks in private networks, and hosts that are not allowed", async () => {
    const urls = ["http://127.0.0.1/hook", "http://localhost/hook", "https://other.example/hook"];
    const server = startProcess(new TestDurableObjectStorage(), answeringAgent, {
      push: { allowedHosts: ["hooks.example"] },
    });
    for (const url of urls) {
      const { status } = await sendMessage(server, { taskPushNotificationConfig: { url } });
      expect({ url, status }).toEqual({ url, status: 400 });
    }
  });
});
