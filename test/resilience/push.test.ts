import { describe, expect, it, onTestFinished } from "vitest";
import {
  TestWebhookReceiver,
  type ReceivedTestWebhookRequest,
} from "../../src/server/push/test-webhook-receiver.fixture.ts";
import type { StreamResponse } from "../../src/protocol/index.ts";
import { fetchTask, STREAM_REQUESTS, createUserMessage } from "../support/http-bindings.ts";
import { readSseStream } from "../support/raw-stream.ts";
import { createTempFile, killChild, startChild, type ServerChild } from "./child-process.ts";

const CHILD_SCRIPT = "push-child.ts";

/** Starts a webhook, and a server that allows it, on a temporary file. */
async function startWithWebhook(agent: string): Promise<{
  receiver: TestWebhookReceiver;
  file: string;
  before: ServerChild;
  send: () => Promise<string>;
}> {
  const file = await createTempFile();
  const receiver = await new TestWebhookReceiver().listen();
  onTestFinished(() => receiver.close());
  const before = await startChild(CHILD_SCRIPT, file);
  const send = async (): Promise<string> => {
    const configuration = { taskPushNotificationConfig: { url: receiver.url() }, returnImmediately: true };
    const request = await fetch(`${before.url}/a2a/${agent}/message:send`, {
      method: "POST",
      headers: { "a2a-version": "1.0", "content-type": "application/json" },
      body: JSON.stringify({ message: createUserMessage("m-1", "go"), configuration }),
    });
    return ((await request.json()) as { task: { id: string } }).task.id;
  };
  return { receiver, file, before, send };
}

const getSequenceNumber = ({ headers }: ReceivedTestWebhookRequest): number =>
  Number(String(headers["x-a2a-notification-id"]).split(":").at(-1));

function isTerminalUpdate({ json }: ReceivedTestWebhookRequest): boolean {
  return /"state":"TASK_STATE_(COMPLETED|FAILED)"/.test(JSON.stringify(json));
}

/** Returns all events of a task as a client of the server receives them. */
async function readTaskLog(url: string, agent: string, taskId: string): Promise<StreamResponse[]> {
  const { subscribe, event } = STREAM_REQUESTS["HTTP+JSON"];
  const log: StreamResponse[] = [];
  const request = { ...subscribe(`${url}/a2a/${agent}`, taskId), headers: { "last-event-id": "0" } };
  for await (const { data } of readSseStream(request)) log.push(event(data));
  return log;
}

/** Returns the received requests without repetitions of an event. */
function dropRepeats(posted: readonly ReceivedTestWebhookRequest[]): ReceivedTestWebhookRequest[] {
  return posted.filter(
    (one, at) => posted.findIndex((other) => getSequenceNumber(other) === getSequenceNumber(one)) === at,
  );
}

describe("a server that is killed while a webhook does not answer as it should", () => {
  it("delivers every update in order after 503 six times, kill -9, and a restart [E12, I-02, I-07, I-08]", async () => {
    const { receiver, file, before, send } = await startWithWebhook("brief");
    receiver.queuedResponses.push(503, 503, 503, 503, 503, 503);
    receiver.defaultResponse = "hang";
    const taskId = await send();
    await receiver.waitForRequests(6);
    await expect
      .poll(async () => (await fetchTask(`${before.url}/a2a/brief`, taskId)).status.state)
      .toBe("TASK_STATE_COMPLETED");
    await killChild(before);
    const tried = receiver.requests.splice(0);
    expect(new Set(tried.map(getSequenceNumber))).toEqual(new Set([1]));

    receiver.defaultResponse = 200;
    const { url } = await startChild(CHILD_SCRIPT, file);
    await receiver.waitForRequests((posted) => posted.some(isTerminalUpdate));
    const log = await readTaskLog(url, "brief", taskId);
    expect(log).toHaveLength(13);
    expect(receiver.requests.map(({ json }) => json)).toEqual(log);
    expect(receiver.requests.map(getSequenceNumber)).toEqual(log.map((_, at) => at + 1));
  });

  it("delivers missing updates and the failure by the kill, at least once and in order [E12, E9, I-08]", async () => {
    const { receiver, file, before, send } = await startWithWebhook("endless");
    receiver.queuedResponses.push(200, 200, 503, 200, "cut");
    const taskId = await send();
    await receiver.waitForRequests(8);
    await killChild(before);

    const { url } = await startChild(CHILD_SCRIPT, file);
    await receiver.waitForRequests((posted) => posted.some(isTerminalUpdate));
    const log = await readTaskLog(url, "endless", taskId);
    const arrived = dropRepeats(receiver.requests);
    expect(arrived.map(({ json }) => json)).toEqual(log);
    expect(arrived.map(getSequenceNumber)).toEqual(log.map((_, at) => at + 1));
    expect(receiver.requests.at(-1)?.json).toMatchObject({
      statusUpdate: { status: { state: "TASK_STATE_FAILED" } },
    });
  });
});
