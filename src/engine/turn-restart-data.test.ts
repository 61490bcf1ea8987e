import { expect, it } from "vitest";
import { alice, createTestSendMessageRequest } from "./engine.fixture.ts";
import { restoreQueuedRequest, toQueuedTurnData, toTurnRestartData } from "./turn-restart-data.ts";
import { Turn } from "./turn.ts";

it("a persisted turn has the tenant, the metadata, and the configuration of its request, without the webhook", () => {
  const { message } = createTestSendMessageRequest("hi");
  const configuration = { acceptedOutputModes: ["text/plain"] };
  const webhook = { taskPushNotificationConfig: { id: "w", url: "https://example.com/", token: "secret" } };
  const request = { message, tenant: "acme", metadata: { urgent: true }, configuration };
  const service = { version: "1.0", extensions: ["urn:x"], traceparent: "00-1", needsTask: true };
  const turn = new Turn(
    {} as never,
    {
      request: { ...request, configuration: { ...configuration, ...webhook } },
      caller: { ...alice, choseTenant: true },
      serviceParameters: { ...service, isStreaming: true },
    },
    message,
    { attempt: 2 },
  );
  turn.startPoint = { task: {} as never, seq: 7 };
  expect(toTurnRestartData(turn)).toStrictEqual({
    seq: 7,
    attempt: 2,
    request: { configuration, tenant: "acme", metadata: { urgent: true } },
    service: { ...service, isStreaming: true },
    choseTenant: true,
  });
  const plain = new Turn(
    {} as never,
    { request: { message }, caller: alice, serviceParameters: {} },
    message,
  );
  expect(toTurnRestartData(plain)).toStrictEqual({
    seq: 1,
    attempt: 1,
    request: { configuration: {} },
    service: {},
  });
});

it.each([
  [
    "with its webhook",
    { taskPushNotificationConfig: { id: "w", url: "https://example.com/", token: "secret" } },
  ],
  ["without a webhook", {}],
])("a queued turn has the request of its message again, %s", (_, webhook) => {
  const { message } = createTestSendMessageRequest("hi");
  const configuration = { acceptedOutputModes: ["text/plain"], ...webhook };
  const request = { message, tenant: "acme", metadata: { urgent: true }, configuration };
  const turn = new Turn(
    {} as never,
    { request, caller: alice, serviceParameters: { version: "1.0" } },
    message,
  );
  const stored = toQueuedTurnData(turn, 3);
  expect(stored.position).toBe(3);
  expect(stored.request.configuration).not.toHaveProperty("taskPushNotificationConfig");
  expect(restoreQueuedRequest(stored)).toStrictEqual({
    request,
    serviceParameters: { version: "1.0", needsTask: true },
  });
});
