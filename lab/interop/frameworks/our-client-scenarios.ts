import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { type A2AClient, collect, connect } from "../../../src/client/index.ts";
import {
  getText,
  isTerminal,
  type SendMessageResponse,
  type StreamResponse,
  type Task,
} from "../../../src/protocol/index.ts";
import type { ScenarioOutcome } from "../protocol-variants.ts";
import { runScenario } from "../scenarios.ts";
import { startTestWebhook } from "../test-webhook.ts";
import type { ScenarioServerUrls } from "./scenario-servers.ts";

/**
 * Runs our client, with its default options, against an agent of a framework. The agent streams "one two three" and
 * counts the files of the message `receive`. It answers `again` with "again" if the context has an earlier answer.
 */
export async function* runOurClientWithFramework(urls: ScenarioServerUrls): AsyncGenerator<ScenarioOutcome> {
  for (const [scenario, work] of Object.entries(SCENARIOS))
    yield await runScenario(scenario, () => work(urls));
}

const SCENARIOS: Readonly<Record<string, (urls: ScenarioServerUrls) => Promise<void>>> = {
  async send({ url }) {
    assert.equal(getAnswer(await (await connectTo(url)).send("count")), "one two three");
  },

  async stream({ url }) {
    assert.equal(getAnswer(await collect((await connectTo(url)).stream("count"))), "one two three");
  },

  async question({ url }) {
    const { status } = await ask(await connectTo(url));
    assert.match(JSON.stringify(status.message), /Which color\?/);
  },

  async "follow-up"({ url }) {
    const remote = await connectTo(url);
    const { id, contextId } = requireTask(await collect(remote.stream("count")));
    const again = await waitForEnd(remote, requireTask(await remote.send("again", { contextId })));
    assert.notEqual(again.id, id);
    assert.equal(getAnswer({ task: again }), "again");
  },

  async "follow-up stream"({ url }) {
    const remote = await connectTo(url);
    const question = await ask(remote);
    const { id: taskId, contextId } = question;
    const events: StreamResponse[] = [];
    const parts = [{ data: createInterruptResponse(question) }];
    for await (const event of remote.stream({ parts, taskId, contextId })) events.push(event);
    const [first] = events;
    if (first && "task" in first) assert.notEqual(first.task.status.state, "TASK_STATE_INPUT_REQUIRED");
    assert.equal(getAnswer(await collect(ReadableStream.from(events))), "got blue");
  },

  async "sent files"({ url }) {
    const remote = await connectTo(url);
    const image = { raw: "iVBORw0KGgo=", filename: "dot.png", mediaType: "image/png" };
    const task = requireTask(await remote.send({ parts: [{ text: "receive" }, image] }));
    assert.equal(getAnswer({ task: await waitForEnd(remote, task) }), "received 1 files");
  },

  async failure({ url }) {
    const remote = await connectTo(url);
    const task = await waitForEnd(remote, requireTask(await collect(remote.stream("fail"))));
    assert.equal(task.status.state, "TASK_STATE_FAILED");
  },

  async get({ url }) {
    const remote = await connectTo(url);
    const task = await waitForEnd(remote, requireTask(await remote.send("count")));
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  },

  async list({ url }) {
    const remote = await connectTo(url);
    const { id, contextId } = requireTask(await remote.send("count"));
    const { tasks } = await remote.tasks.list({ contextId });
    assert.deepEqual(
      tasks.map((task) => task.id),
      [id],
    );
  },

  // The frameworks leave authentication to the HTTP server, so their cards declare no security scheme.
  async "auth headers"({ securedUrl, token }) {
    const intruder = await connectTo(securedUrl, { authorization: "Bearer no-token-of-the-server" });
    await assert.rejects(intruder.send("count"), { reason: "UNAUTHENTICATED" });
    const remote = await connectTo(securedUrl, { authorization: `Bearer ${token}` });
    assert.equal(getAnswer(await collect(remote.stream("count"))), "one two three");
  },

  async "push delivery"({ url }) {
    const remote = await connectTo(url);
    const hook = await startTestWebhook("secret");
    try {
      for await (const event of remote.stream("count")) {
        if (!("task" in event)) continue;
        await remote.tasks.pushConfigs.create(event.task.id, { id: "mine", url: hook.url, token: "secret" });
      }
      await hook.first(() => true);
    } finally {
      hook.close();
    }
  },
};

async function ask(remote: A2AClient): Promise<Task> {
  const task = requireTask(await collect(remote.stream("ask")));
  assert.equal(task.status.state, "TASK_STATE_INPUT_REQUIRED");
  return task;
}

/** Returns the answer to an interrupt of Strands. The message of the question contains its id. */
function createInterruptResponse({ status }: Task): {
  interruptResponse: { interruptId: string; response: string };
} {
  const [, interruptId = ""] = /"interruptId":"(.+?)"/.exec(JSON.stringify(status.message)) ?? [];
  return { interruptResponse: { interruptId, response: "blue" } };
}

/** Calls GetTask until the task has ended, because some servers answer earlier. */
async function waitForEnd(remote: A2AClient, { id }: Task): Promise<Task> {
  for (;;) {
    const task = await remote.tasks.get(id);
    if (isTerminal(task.status.state)) return task;
    await pause(50);
  }
}

function requireTask(response: SendMessageResponse): Task {
  if ("task" in response) return response.task;
  throw new Error("The agent answered with a message.");
}

function connectTo(url: string, headers: Readonly<Record<string, string>> = {}): Promise<A2AClient> {
  return connect(url, { headers, reconnect: { maxRetries: 2, initialDelayMs: 50 } });
}

function getAnswer(response: SendMessageResponse): string {
  if (!("task" in response)) return getText(response.message.parts);
  const { artifacts = [], status } = response.task;
  const text = artifacts.map(({ parts }) => getText(parts)).join("");
  // Strands ends each answer with a line feed.
  return (text === "" ? getText(status.message?.parts ?? []) : text).trimEnd();
}
