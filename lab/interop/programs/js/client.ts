/**
 * Runs the scenarios with the client of the official JavaScript SDK against our server:
 * `client.ts URL BINDING VERSION SECURED_URL TOKEN`. Prints one outcome per line.
 */
import { SendMessageRequest, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import {
  type Client,
  createAuthenticatingFetchWithRetry,
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import assert from "node:assert/strict";
import { runScenario } from "../../scenarios.ts";
import { startTestWebhook } from "../../test-webhook.ts";
import { createTextRequest, listArtifactTexts, requireTask } from "../../../../test/interop/sdk-client.ts";

const [url = "", binding = "", , securedUrl = "", token = ""] = process.argv.slice(2);

function connect(serverUrl: string, fetchImpl: typeof fetch = fetch): Promise<Client> {
  const transports = [
    new JsonRpcTransportFactory({ fetchImpl }),
    new RestTransportFactory({ fetchImpl }),
    new GrpcTransportFactory(),
  ].filter(({ protocolName }) => protocolName === binding);
  const options = { transports, preferredTransports: [binding] };
  return new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, options),
  ).createFromUrl(serverUrl);
}

/** Returns the task that the events of a stream describe, and the first event. */
async function followStream(
  events: AsyncIterable<StreamResponse>,
): Promise<{ task: Task; first: StreamResponse["payload"] }> {
  let task: Task | undefined;
  let first: StreamResponse["payload"];
  for await (const { payload } of events) {
    first ??= structuredClone(payload);
    if (payload?.$case === "task") task = payload.value;
    else if (task && payload?.$case === "statusUpdate") task.status = payload.value.status;
    else if (task && payload?.$case === "artifactUpdate") {
      const { artifact, append } = payload.value;
      const known = task.artifacts.find(({ artifactId }) => artifactId === artifact?.artifactId);
      if (known && append) known.parts.push(...(artifact?.parts ?? []));
      else if (known) known.parts = artifact?.parts ?? [];
      else if (artifact) task.artifacts.push(artifact);
    }
  }
  if (!task) throw new Error("The stream contains no task.");
  return { task, first };
}

const getAnswer = (task: Task): string => listArtifactTexts(task).join("");

const SCENARIOS: Readonly<Record<string, (client: Client) => Promise<void>>> = {
  async send(client) {
    const task = requireTask(await client.sendMessage(createTextRequest("count")));
    assert.deepEqual(
      [task.status?.state, getAnswer(task)],
      [TaskState.TASK_STATE_COMPLETED, "one two three"],
    );
  },

  async stream(client) {
    const { task } = await followStream(client.sendMessageStream(createTextRequest("count")));
    assert.deepEqual(
      [task.status?.state, getAnswer(task)],
      [TaskState.TASK_STATE_COMPLETED, "one two three"],
    );
  },

  async "follow-up"(client) {
    const { id: taskId, contextId } = requireTask(await client.sendMessage(createTextRequest("ask")));
    const done = requireTask(await client.sendMessage(createTextRequest("blue", { taskId, contextId })));
    assert.deepEqual([done.id, getAnswer(done)], [taskId, "got blue"]);
  },

  async "follow-up stream"(client) {
    const { id: taskId, contextId } = requireTask(await client.sendMessage(createTextRequest("ask")));
    const answer = createTextRequest("blue", { taskId, contextId });
    const { task, first } = await followStream(client.sendMessageStream(answer));
    if (first?.$case !== "task") throw new Error("The stream does not begin with a task.");
    assert.deepEqual([first.value.status?.state, first.value.artifacts], [TaskState.TASK_STATE_WORKING, []]);
    assert.equal(getAnswer(task), "got blue");
  },

  async "sign-in"(client) {
    const { status } = requireTask(await client.sendMessage(createTextRequest("sign in")));
    assert.equal(status?.state, TaskState.TASK_STATE_AUTH_REQUIRED);
    assert.equal(status?.message?.parts[0]?.content?.value, "Sign in first.");
  },

  async files(client) {
    const { task } = await followStream(client.sendMessageStream(createTextRequest("files")));
    const [, file, data] = task.artifacts.flatMap(({ parts }) => parts);
    assert.deepEqual([file?.filename, file?.mediaType], ["dot.png", "image/png"]);
    assert.equal(Buffer.from(file?.content?.value as Uint8Array).toString("base64"), "iVBORw0KGgo=");
    assert.deepEqual(data?.content?.value, { width: 1 });
    const parts = [{ text: "receive" }, { raw: "aGVsbG8=", mediaType: "image/png" }, { data: { a: 1 } }];
    const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts };
    const received = requireTask(await client.sendMessage(SendMessageRequest.fromJSON({ message })));
    assert.equal(getAnswer(received), "Received: text aGVsbG8= data");
  },

  async get(client) {
    const { id } = requireTask(await client.sendMessage(createTextRequest("count")));
    const task = await client.getTask({ tenant: "", id, historyLength: 1 });
    assert.deepEqual([task.id, task.history.length], [id, 1]);
  },

  async list(client) {
    const { id, contextId } = requireTask(await client.sendMessage(createTextRequest("count")));
    const { tasks } = await client.listTasks({
      tenant: "",
      contextId,
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: "",
      statusTimestampAfter: undefined,
    });
    assert.deepEqual(
      tasks.map((task) => task.id),
      [id],
    );
  },

  async "push delivery"(client) {
    const hook = await startTestWebhook("secret");
    try {
      const { id: taskId, contextId } = requireTask(await client.sendMessage(createTextRequest("ask")));
      await client.createTaskPushNotificationConfig({
        tenant: "",
        id: "mine",
        taskId,
        url: hook.url,
        token: "secret",
        authentication: undefined,
      });
      await client.sendMessage(createTextRequest("blue", { taskId, contextId }));
      await hook.first(
        (event) => "statusUpdate" in event && event.statusUpdate.status.state === "TASK_STATE_COMPLETED",
      );
    } finally {
      hook.close();
    }
  },
};

/** Sends a message to the secured server with the SDK's own handler of credentials. */
async function sendSecured(credential: string): Promise<Task> {
  const headers = (): Promise<Record<string, string>> =>
    Promise.resolve({ authorization: `Bearer ${credential}` });
  const handler = { headers, shouldRetryWithHeaders: () => Promise.resolve(undefined) };
  const secured = await connect(securedUrl, createAuthenticatingFetchWithRetry(fetch, handler));
  return requireTask(await secured.sendMessage(createTextRequest("count")));
}

const connection: { client?: Client } = {};
const report = async (name: string, work: () => Promise<void>): Promise<void> =>
  console.log(JSON.stringify(await runScenario(name, work)));
await report("card", async () => {
  connection.client = await connect(url);
});
const { client } = connection;
if (client) {
  for (const [scenario, work] of Object.entries(SCENARIOS)) await report(scenario, () => work(client));
  // The SDK's handler adds HTTP headers only.
  if (binding !== "GRPC") {
    await report("auth headers", async () => {
      await assert.rejects(sendSecured("no-token-of-the-server"));
      assert.equal(getAnswer(await sendSecured(token)), "one two three");
    });
  }
}
process.exit(0);
