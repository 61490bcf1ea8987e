import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { Receiver, type Posted } from "../../src/server/push/receiver.fixture.ts";
import type { StreamResponse } from "../../src/protocol/index.ts";
import { getTask, STREAMS, userMessage } from "../binding.ts";
import { readStream } from "../raw-stream.ts";
import { freshFolder } from "../stores.ts";

const CHILD = fileURLToPath(new URL("push-child.ts", import.meta.url));

async function start(file: string): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(CHILD, [file]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const [url] = (await once(child, "message")) as [string];
  return { child, url };
}

async function stop({ child }: { child: ChildProcess }): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** A webhook, and a server on a file of its own that knows it. */
async function begin(agent: string): Promise<{
  receiver: Receiver;
  file: string;
  before: Awaited<ReturnType<typeof start>>;
  send: () => Promise<string>;
}> {
  const { folder, remove } = await freshFolder();
  onTestFinished(remove);
  const file = join(folder, "tasks.db");
  const receiver = await new Receiver().listen();
  onTestFinished(() => receiver.close());
  const before = await start(file);
  const send = async (): Promise<string> => {
    const configuration = { taskPushNotificationConfig: { url: receiver.url() }, returnImmediately: true };
    const response = await fetch(`${before.url}/a2a/${agent}/message:send`, {
      method: "POST",
      headers: { "a2a-version": "1.0", "content-type": "application/json" },
      body: JSON.stringify({ message: userMessage("m-1", "go"), configuration }),
    });
    return ((await response.json()) as { task: { id: string } }).task.id;
  };
  return { receiver, file, before, send };
}

const seqOf = ({ headers }: Posted): number =>
  Number(String(headers["x-a2a-notification-id"]).split(":").at(-1));

function isEnd({ json }: Posted): boolean {
  return /"state":"TASK_STATE_(COMPLETED|FAILED)"/.test(JSON.stringify(json));
}

/** The whole log of a task, as a reader of the server gets it. */
async function logOf(url: string, agent: string, taskId: string): Promise<StreamResponse[]> {
  const { subscribe, event } = STREAMS["HTTP+JSON"];
  const log: StreamResponse[] = [];
  const asked = { ...subscribe(`${url}/a2a/${agent}`, taskId), headers: { "last-event-id": "0" } };
  for await (const { data } of readStream(asked)) log.push(event(data));
  return log;
}

/** What arrived, each event where it arrived first. */
function firsts(posted: readonly Posted[]): Posted[] {
  return posted.filter((one, at) => posted.findIndex((other) => seqOf(other) === seqOf(one)) === at);
}

describe("a server that is killed while a webhook does not answer as it should", () => {
  it("delivers every update in order when it is back: 503 six times, kill -9, restart [E12, I-02, I-07, I-08]", async () => {
    const { receiver, file, before, send } = await begin("brief");
    receiver.answers.push(503, 503, 503, 503, 503, 503);
    receiver.otherwise = "hang";
    const taskId = await send();
    await receiver.until(6);
    await expect
      .poll(async () => (await getTask(`${before.url}/a2a/brief`, taskId)).status.state)
      .toBe("TASK_STATE_COMPLETED");
    await stop(before);
    const tried = receiver.posted.splice(0);
    expect(new Set(tried.map(seqOf))).toEqual(new Set([1]));

    receiver.otherwise = 200;
    const { url } = await start(file);
    await receiver.until((posted) => posted.some(isEnd));
    const log = await logOf(url, "brief", taskId);
    expect(log).toHaveLength(13);
    expect(receiver.posted.map(({ json }) => json)).toEqual(log);
    expect(receiver.posted.map(seqOf)).toEqual(log.map((_, at) => at + 1));
  });

  it("delivers what had not arrived, and the end that the kill was, at least once and in order [E12, E9, I-08]", async () => {
    const { receiver, file, before, send } = await begin("endless");
    receiver.answers.push(200, 200, 503, 200, "cut");
    const taskId = await send();
    await receiver.until(8);
    await stop(before);

    const { url } = await start(file);
    await receiver.until((posted) => posted.some(isEnd));
    const log = await logOf(url, "endless", taskId);
    const arrived = firsts(receiver.posted);
    expect(arrived.map(({ json }) => json)).toEqual(log);
    expect(arrived.map(seqOf)).toEqual(log.map((_, at) => at + 1));
    expect(receiver.posted.at(-1)?.json).toMatchObject({
      statusUpdate: { status: { state: "TASK_STATE_FAILED" } },
    });
  });
});
