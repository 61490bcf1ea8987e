import { describe, expect, it } from "vitest";
import { MemoryStore } from "../stores/index.ts";
import {
  alice,
  bob,
  createEngineFixture,
  createTestSendMessageRequest,
  FakeClock,
  getRejectionA2AErrorReasonForTest,
  getTestResponseTask,
} from "../engine/engine.fixture.ts";
import type { Caller } from "../engine/index.ts";
import { Outbox } from "./outbox.ts";
import { createEnginePushOptions } from "./push-config-operations.ts";
import type { PushLimits } from "./push-limits.ts";

const config = {
  id: "w",
  url: "https://example.com/",
  token: "t-secret",
  authentication: { scheme: "Bearer", credentials: "c-secret" },
};

it.each([
  [true, { id: "w", url: config.url, authentication: { scheme: "Bearer" } }],
  [false, config],
])("with redactSecrets: %s, responses contain secrets only if they may", async (redactSecrets, wanted) => {
  const [store, clock] = [new MemoryStore(), new FakeClock()];
  const outbox = new Outbox({
    deliver: async () => ({ ok: true }),
    clock,
    random: () => 0,
    observer: {},
    store,
  });
  const push = createEnginePushOptions({
    outbox,
    store: store.pushStore,
    validateWebhook: async () => [],
    redactSecrets,
  });
  const { engine } = createEngineFixture({ store, clock, push });
  const sent = createTestSendMessageRequest("hi", { configuration: { returnImmediately: true } });
  const { id: taskId } = getTestResponseTask(await engine.sendMessage(sent, alice));
  const created = await engine.pushConfigs?.create({ taskId, ...config }, alice);
  expect(created).toEqual({ taskId, ...wanted });
  expect(await engine.pushConfigs?.get({ taskId, id: "w" }, alice)).toEqual(created);
  expect((await engine.pushConfigs?.list({ taskId }, alice))?.configs).toEqual([created]);
});

it("an engine without push notifications rejects a message with a webhook", async () => {
  const { engine, agent } = createEngineFixture();
  const sent = createTestSendMessageRequest("hi", { configuration: { taskPushNotificationConfig: config } });
  const answer = Promise.resolve().then(() => engine.sendMessage(sent, alice));
  expect(await getRejectionA2AErrorReasonForTest(answer)).toBe("PUSH_NOTIFICATION_NOT_SUPPORTED");
  expect(agent.runs).toEqual([]);
});

describe("push configurations", () => {
  async function startTaskWithLimits(limits: Partial<PushLimits>): Promise<{
    taskId: string;
    create: (id: string, caller?: Caller) => Promise<unknown>;
  }> {
    const [store, clock] = [new MemoryStore(), new FakeClock()];
    const outbox = new Outbox({ deliver: async () => ({ ok: true }), clock, store, limits });
    const push = createEnginePushOptions({
      outbox,
      store: store.pushStore,
      validateWebhook: async () => [],
    });
    const { engine } = createEngineFixture({ store, clock, push });
    const startTask = async (caller: Caller): Promise<string> => {
      const sent = createTestSendMessageRequest("hi", { configuration: { returnImmediately: true } });
      return getTestResponseTask(await engine.sendMessage(sent, caller)).id;
    };
    const taskIds = new Map<Caller, string>([[alice, await startTask(alice)]]);
    const create = async (id: string, caller: Caller = alice): Promise<unknown> => {
      const taskId = taskIds.get(caller) ?? (await startTask(caller));
      return engine.pushConfigs?.create({ taskId, id, url: config.url }, caller);
    };
    return { taskId: taskIds.get(alice) ?? "", create };
  }

  it("are limited per task, and an existing one can be replaced [E14]", async () => {
    const { taskId, create } = await startTaskWithLimits({ maxConfigsPerTask: 2 });
    for (const id of ["a", "b", "a"]) await create(id);
    await expect(create("c")).rejects.toMatchObject({
      reason: "RESOURCE_EXHAUSTED",
      retryAfter: 10,
      message: `Task ${taskId} already has 2 push notification configs (push.maxConfigsPerTask); delete one first.`,
    });
  });

  it("are limited per task and per caller when a caller registers many at once [E14]", async () => {
    for (const limits of [{ maxConfigsPerTask: 5 }, { maxConfigsPerCaller: 5 }]) {
      const { create } = await startTaskWithLimits(limits);
      const registrations = Array.from({ length: 50 }, (_, at) => create(`config-${at}`));
      const settled = await Promise.allSettled(registrations);
      const accepted = settled.filter(({ status }) => status === "fulfilled").length;
      expect(accepted).toBeLessThanOrEqual(5);
      await create("later").catch(() => {});
      for (let at = 0; at < 5; at++) await create(`more-${at}`).catch(() => {});
      await expect(create("one more")).rejects.toMatchObject({ reason: "RESOURCE_EXHAUSTED" });
    }
  });

  it("are limited per caller, and one caller does not use up the limit of another [E14] [SEC-29]", async () => {
    const { create } = await startTaskWithLimits({ maxConfigsPerCaller: 3 });
    for (const id of ["a", "b", "c"]) await create(id);
    await expect(create("d")).rejects.toMatchObject({
      reason: "RESOURCE_EXHAUSTED",
      message: expect.stringContaining("push.maxConfigsPerCaller") as string,
    });
    await create("d", bob);
  });
});
