/** Tests webhooks that the official JavaScript clients of A2A 1.0 and 0.3 register on our server. */
import { Message, Role, type SendMessageRequest } from "@a2a-js/sdk";
import { JsonRpcTransportFactory, RestTransportFactory, type Client } from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import {
  ClientFactory as ClientFactory03,
  JsonRpcTransportFactory as JsonRpcTransportFactory03,
  RestTransportFactory as RestTransportFactory03,
  type Client as Client03,
} from "a2a-js-sdk-0.3/client";
import { GrpcTransportFactory as GrpcTransportFactory03 } from "a2a-js-sdk-0.3/client/grpc";
import { describe, expect, it, onTestFinished } from "vitest";
import { agent } from "../../src/agents/adapters/index.ts";
import { createServer } from "../../src/server/index.ts";
import { TestWebhookReceiver } from "../../src/server/push/test-webhook-receiver.fixture.ts";
import { createSdkClient } from "./sdk-client.ts";

const echo = agent({ name: "echo", description: "Repeats" }, async function* ({ text }) {
  yield text;
});

async function startServer(): Promise<{ url: string; receiver: TestWebhookReceiver }> {
  const server = createServer({ echo }, { store: "memory", push: { allowPrivate: true } });
  onTestFinished(() => server.close());
  const receiver = await new TestWebhookReceiver().listen();
  onTestFinished(() => receiver.close());
  const { url } = await server.listen({ grpc: true });
  return { url, receiver };
}

/** Returns the requests that a webhook received up to the end of the task. */
async function waitForEnd(receiver: TestWebhookReceiver): Promise<Record<string, unknown>[]> {
  await receiver.waitForRequests((posted) => posted.some(({ body }) => /completed/i.test(body)));
  return receiver.requests.map(({ json }) => json);
}

const V1_PUSH = {
  JSONRPC: () => new JsonRpcTransportFactory(),
  "HTTP+JSON": () => new RestTransportFactory(),
  GRPC: () => new GrpcTransportFactory(),
};

describe.each(["JSONRPC", "HTTP+JSON", "GRPC"] as const)("the client of @a2a-js/sdk, over %s", (binding) => {
  const connect = (url: string): Promise<Client> => createSdkClient(url, binding, V1_PUSH[binding]());

  it("registers a webhook with its message, which receives all events as StreamResponses [F-13, I-04, I-05, I-06]", async () => {
    const { url, receiver } = await startServer();
    const client = await connect(url);
    await client.sendMessage(
      createRequest("hello", {
        tenant: "",
        id: "mine",
        taskId: "",
        url: receiver.url(),
        token: "tok",
        authentication: { scheme: "Bearer", credentials: "secret" },
      }),
    );
    expect(await waitForEnd(receiver)).toMatchObject([
      { task: { status: { state: "TASK_STATE_SUBMITTED" } } },
      { artifactUpdate: { artifact: { parts: [{ text: "hello" }] } } },
      { statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } },
    ]);
    expect(receiver.requests[0]?.headers).toMatchObject({
      "content-type": "application/a2a+json",
      authorization: "Bearer secret",
      "x-a2a-notification-token": "tok",
    });
  });

  it("creates, gets, lists and deletes configurations [I-01, I-03, D-07]", async () => {
    const { url, receiver } = await startServer();
    const client = await connect(url);
    const answer = await client.sendMessage(createRequest("hello"));
    const taskId = "id" in answer ? answer.id : "";
    const config = { tenant: "", id: "", taskId, url: receiver.url(), token: "", authentication: undefined };
    const created = await client.createTaskPushNotificationConfig(config);
    expect(created).toMatchObject({ taskId, url: receiver.url(), id: expect.stringMatching(/./) as string });
    const { id } = created;
    expect(await client.getTaskPushNotificationConfig({ tenant: "", taskId, id })).toEqual(created);
    const question = { tenant: "", taskId, pageSize: 10, pageToken: "" };
    expect((await client.listTaskPushNotificationConfig(question)).configs).toEqual([created]);
    await client.deleteTaskPushNotificationConfig({ tenant: "", taskId, id });
    await client.deleteTaskPushNotificationConfig({ tenant: "", taskId, id });
    expect((await client.listTaskPushNotificationConfig(question)).configs).toEqual([]);
    await expect(client.getTaskPushNotificationConfig({ tenant: "", taskId, id })).rejects.toThrow(
      /not found/,
    );
  });
});

const V03_PUSH = {
  JSONRPC: () => new JsonRpcTransportFactory03(),
  "HTTP+JSON": () => new RestTransportFactory03(),
  GRPC: () => new GrpcTransportFactory03(),
};

describe.each(["JSONRPC", "HTTP+JSON", "GRPC"] as const)(
  "the client of @a2a-js/sdk 0.3, over %s",
  (binding) => {
    async function connect(url: string): Promise<Client03> {
      const factory = new ClientFactory03({
        transports: [V03_PUSH[binding]()],
        preferredTransports: [binding],
      });
      return factory.createFromUrl(url);
    }

    it("registers a webhook with its message, which receives the task after each event [F-13, V-10, V-24]", async () => {
      const { url, receiver } = await startServer();
      const client = await connect(url);
      await client.sendMessage({
        message: {
          kind: "message",
          messageId: crypto.randomUUID(),
          role: "user",
          parts: [{ kind: "text", text: "hello" }],
        },
        configuration: {
          blocking: true,
          pushNotificationConfig: {
            id: "mine",
            url: receiver.url(),
            token: "tok",
            authentication: { schemes: ["Bearer"], credentials: "secret" },
          },
        },
      });
      const tasks = await waitForEnd(receiver);
      expect(tasks[0]).toMatchObject({ kind: "task", status: { state: "submitted" } });
      expect(tasks.at(-1)).toMatchObject({
        kind: "task",
        status: { state: "completed" },
        artifacts: [{ parts: [{ kind: "text", text: "hello" }] }],
      });
      for (const { headers } of receiver.requests) {
        expect(headers).toMatchObject({
          "content-type": "application/json",
          authorization: "Bearer secret",
          "x-a2a-notification-token": "tok",
        });
        expect(headers).not.toHaveProperty("a2a-version");
      }
    });

    it("sets, gets, lists and deletes configurations [V-10]", async () => {
      const { url, receiver } = await startServer();
      const client = await connect(url);
      const task = await client.sendMessage({
        message: {
          kind: "message",
          messageId: crypto.randomUUID(),
          role: "user",
          parts: [{ kind: "text", text: "x" }],
        },
      });
      const taskId = "id" in task ? task.id : "";
      const pushNotificationConfig = { id: "mine", url: receiver.url() };
      const set = await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig });
      expect(set).toMatchObject({ taskId, pushNotificationConfig });
      const which = { id: taskId, pushNotificationConfigId: "mine" };
      expect(await client.getTaskPushNotificationConfig(which)).toEqual(set);
      expect(await client.listTaskPushNotificationConfig({ id: taskId })).toEqual([set]);
      await client.deleteTaskPushNotificationConfig(which);
      expect(await client.listTaskPushNotificationConfig({ id: taskId })).toEqual([]);
      await expect(client.getTaskPushNotificationConfig(which)).rejects.toThrow(/not found/);
    });
  },
);

function createRequest(
  text: string,
  taskPushNotificationConfig?: NonNullable<SendMessageRequest["configuration"]>["taskPushNotificationConfig"],
): SendMessageRequest {
  const parts = [
    { content: { $case: "text" as const, value: text }, metadata: undefined, filename: "", mediaType: "" },
  ];
  const message = Message.fromJSON({});
  return {
    tenant: "",
    message: { ...message, messageId: crypto.randomUUID(), role: Role.ROLE_USER, parts },
    metadata: undefined,
    configuration: taskPushNotificationConfig && {
      acceptedOutputModes: [],
      returnImmediately: false,
      taskPushNotificationConfig,
    },
  };
}
