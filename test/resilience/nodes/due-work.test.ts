import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { TestWebhookReceiver } from "../../../src/server/push/test-webhook-receiver.fixture.ts";
import { createServer, type Server } from "../../../src/server/index.ts";
import { PostgresStore } from "../../../src/stores/index.ts";
import {
  createTestLogAppend,
  createTestSubmittedTaskEvent,
} from "../../../src/stores/task-event-logs.fixture.ts";
import type { Task } from "../../../src/protocol/index.ts";
import { findTestDatabase } from "../../support/find-test-postgres.ts";
import { NodeTestAgent, startTestNode } from "./node-pair.ts";

const { url, reason } = await findTestDatabase();
const TOKEN = "scheduler-secret";

describe.skipIf(reason)("work that is due", () => {
  const servers: Server[] = [];
  let receiver: TestWebhookReceiver | undefined;

  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close({ graceMs: 0 })));
    await receiver?.close();
  });

  /** Accepts messages with a webhook on a server that starts no agents, which then stops. */
  async function acceptMessages(count: number): Promise<string[]> {
    receiver = await new TestWebhookReceiver().listen();
    const push = { allowPrivate: true };
    const { client, server } = await startTestNode(url, {}, {}, { role: "web", push });
    const configuration = {
      returnImmediately: true,
      taskPushNotificationConfig: { url: receiver.url() },
    };
    const results = await Promise.all(
      Array.from({ length: count }, () => client.send("hi", { configuration })),
    );
    await server.close({ graceMs: 0 });
    return results.map((result) => (result as { task: Task }).task.id);
  }

  function createWorker(options: object = {}): {
    agent: NodeTestAgent;
    server: Server;
    store: PostgresStore;
  } {
    const agent = new NodeTestAgent({});
    agent.answersAtOnce = (run) => void run.end();
    const store = new PostgresStore(url);
    const push = { allowPrivate: true };
    const server = createServer(
      { puppet: agent },
      { store, push, role: "worker", observer: false, ...options },
    );
    servers.push(server);
    return { agent, server, store };
  }

  it("is processed by a call, which waits for the agents and the notifications [E12, E21]", async () => {
    const ids = await acceptMessages(3);
    const { server, agent, store } = createWorker();
    // The node that accepted the messages can have sent notifications, with or without storing their success (E12).
    const earlier = receiver?.requests.length ?? 0;
    const { notifications, ...report } = await server.processDueWork();
    expect(report).toEqual({ turns: 3, isComplete: true });
    expect(notifications).toBeLessThanOrEqual(6);
    expect(notifications).toBeGreaterThanOrEqual(6 - earlier);
    expect(agent.runs.map(({ run }) => run.taskId).toSorted()).toEqual(ids.toSorted());
    expect(new Set(receiver?.requests.map(({ body }) => body)).size).toBe(6);
    expect(await store.turns.claim("puppet", 10)).toEqual([]);
    expect(await server.processDueWork()).toEqual({ turns: 0, notifications: 0, isComplete: true });
  });

  it("is reported as incomplete if an agent runs longer than the time limit [E21]", async () => {
    await acceptMessages(1);
    const { server, agent } = createWorker();
    agent.answersAtOnce = () => {};
    expect(await server.processDueWork({ timeLimitMs: 1500 })).toMatchObject({ turns: 1, isComplete: false });
  });

  it("includes the turns of a frozen process, although the processing one has just started [E17, E21]", async () => {
    const frozen = new PostgresStore(url, { leaseMs: 500 });
    await frozen.open();
    const taskId = randomUUID();
    const scope = { tenant: "", principal: "anonymous", agent: "puppet" };
    const append = createTestLogAppend(taskId, 0, [createTestSubmittedTaskEvent(taskId)], {
      hasRunningTurn: true,
    });
    await frozen.commit([{ ...append, scope }]);
    const { server, store } = createWorker();
    expect(await server.processDueWork()).toMatchObject({ isComplete: true });
    expect((await store.load(scope, taskId))?.task.status.state).toBe("TASK_STATE_FAILED");
    await frozen.close();
  });

  it("is processed by POST /tick with the token, and only with the token [E21] [SEC-58]", async () => {
    await acceptMessages(1);
    const { server } = createWorker({ tickToken: TOKEN });
    const { url: workerUrl } = await server.listen();
    const tick = (authorization?: string, query = ""): Promise<Response> =>
      fetch(`${workerUrl}/tick${query}`, {
        method: "POST",
        ...(authorization === undefined ? {} : { headers: { authorization } }),
      });
    expect((await tick()).status).toBe(401);
    expect((await tick(`Bearer ${TOKEN}x`)).status).toBe(401);
    expect((await tick(`Bearer ${TOKEN}`, "?seconds=0")).status).toBe(400);
    expect((await fetch(`${workerUrl}/tick`)).status).toBe(405);
    const response = await tick(`Bearer ${TOKEN}`, "?seconds=20");
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ isComplete: true });
  });

  it("has no endpoint without a token", async () => {
    const agent = new NodeTestAgent({});
    const server = createServer({ puppet: agent }, { store: "memory", observer: false });
    servers.push(server);
    const { url: serverUrl } = await server.listen();
    expect((await fetch(`${serverUrl}/tick`, { method: "POST" })).status).toBe(404);
  });
});
