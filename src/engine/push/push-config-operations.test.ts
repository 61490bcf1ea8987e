import { expect, it } from "vitest";
import { MemoryStore } from "../../stores/index.ts";
import {
  alice,
  createEngineFixture,
  createTestSendMessageRequest,
  FakeClock,
  getRejectionA2AErrorReasonForTest,
  getTestResponseTask,
} from "../engine.fixture.ts";
import { Outbox } from "./outbox.ts";

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
  const push = { outbox, validateWebhook: async (): Promise<[]> => [], redactSecrets };
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
