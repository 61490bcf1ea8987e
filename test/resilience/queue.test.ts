import { describe, expect, it } from "vitest";
import { connect, type A2AClient } from "../../src/client/index.ts";
import { A2AError, getText, type Message, type Task } from "../../src/protocol/index.ts";
import { createTempFile, killChild, startChild, type ServerChild } from "./child-process.ts";
import { findTestPort } from "../support/test-ports.ts";
import { createUserMessage } from "../support/http-bindings.ts";

const CHILD_SCRIPT = "queue-child.ts";
const MESSAGE_COUNT = 32;
/** The server is killed whenever it has acknowledged this many messages. */
const MESSAGES_PER_KILL = 7;
/** Turns that each server completes until its kill, so that messages wait at each kill. */
const TURNS_PER_SERVER = "4";

const configuration = { returnImmediately: true };
const getTexts = (messages: readonly Message[] = []): string[] => messages.map(({ parts }) => getText(parts));

async function sendAndGetTask(client: A2AClient, message: Message): Promise<Task> {
  return ((await client.send(message, { configuration })) as { task: Task }).task;
}

/** Repeats a message with the same id until the server acknowledges the message. */
async function sendUntilAcknowledged(client: A2AClient, message: Message): Promise<void> {
  for (;;) {
    try {
      await sendAndGetTask(client, message);
      return;
    } catch (error) {
      // The queue is full, or the server is not available.
      const isTemporary =
        error instanceof A2AError &&
        ["RESOURCE_EXHAUSTED", "UNAVAILABLE", "NETWORK_ERROR"].includes(error.reason);
      if (!isTemporary) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

async function waitForArtifacts(client: A2AClient, taskId: string, count: number): Promise<Task> {
  for (;;) {
    const task = await client.tasks.get(taskId);
    const isDone = task.artifacts?.length === count && task.status.state === "TASK_STATE_INPUT_REQUIRED";
    if (isDone || task.status.state === "TASK_STATE_FAILED") return task;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("a server that is killed while messages wait for their turn", () => {
  it("processes every acknowledged message once, in order [E1, E9, E10, E11]", async () => {
    const file = await createTempFile();
    const port = String(await findTestPort());
    let server: ServerChild = await startChild(CHILD_SCRIPT, file, port, TURNS_PER_SERVER);
    const client = await connect(server.url);
    const task = await sendAndGetTask(client, createUserMessage("m0", "0"));
    let queuedAtKill = 0;
    for (let at = 1; at < MESSAGE_COUNT; at++) {
      await sendUntilAcknowledged(client, { ...createUserMessage(`m${at}`, `${at}`), taskId: task.id });
      if (at % MESSAGES_PER_KILL !== 0) continue;
      const { history } = await client.tasks.get(task.id);
      await killChild(server);
      queuedAtKill += at + 1 - (history?.length ?? 0);
      const isLast = at + MESSAGES_PER_KILL >= MESSAGE_COUNT;
      server = await startChild(CHILD_SCRIPT, file, port, isLast ? "Infinity" : TURNS_PER_SERVER);
    }
    const done = await waitForArtifacts(client, task.id, MESSAGE_COUNT);
    const expected = Array.from({ length: MESSAGE_COUNT }, (_, at) => `${at}`);
    expect(getTexts(done.history)).toEqual(expected);
    expect(done.artifacts?.map(({ parts }) => getText(parts))).toEqual(expected);
    // The kills interrupted waiting messages, so the test does not pass without a durable queue.
    expect(queuedAtKill).toBeGreaterThan(MESSAGES_PER_KILL);
  });
});
