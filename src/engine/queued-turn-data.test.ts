import { expect, it } from "vitest";
import { alice, createTestSendMessageRequest } from "./engine.fixture.ts";
import { restoreQueuedRequest, toQueuedTurnData } from "./queued-turn-data.ts";
import { Turn } from "./turn.ts";

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
