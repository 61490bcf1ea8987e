import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { collect, connect, type A2AClient } from "../../src/client/index.ts";
import {
  A2AError,
  type SendMessageResponse,
  type StreamResponse,
  type Task,
  getText,
} from "../../src/protocol/index.ts";
import type { ScenarioServerUrls } from "./frameworks/scenario-servers.ts";
import { startTestWebhook } from "./test-webhook.ts";
import type { ScenarioOutcome, ProtocolVariant } from "./protocol-variants.ts";

const WEBHOOK_URL = "http://127.0.0.1:9/hook";
const SCENARIO_TIMEOUT_MS = 20_000;

/**
 * Runs all scenarios with our client against the test agent. The Python and Go clients run the same
 * scenarios.
 */
export async function* runOurClient(
  { url, securedUrl, token }: ScenarioServerUrls,
  { binding, version }: ProtocolVariant,
): AsyncGenerator<ScenarioOutcome> {
  let remote: A2AClient | undefined;
  const options = { binding, version, reconnect: { maxRetries: 2, initialDelayMs: 50 } };
  yield await runScenario("card", async () => {
    remote = await connect(url, options);
    assert.equal(remote.card.name, "Obedient");
  });
  if (!remote) return;
  for (const [scenario, work] of Object.entries(SCENARIOS)) {
    if (scenario === "list" && version === "0.3") continue;
    const agent = remote;
    yield await runScenario(scenario, () => work(agent));
  }
  yield await runScenario("auth headers", async () => {
    // The gRPC listeners have separate ports, which are other origins than the one of the card.
    const trusting = { ...options, trustedOrigins: "any" as const };
    const intruder = await connect(securedUrl, { ...trusting, auth: { bearer: "no-token-of-the-server" } });
    await assert.rejects(intruder.send("count"), { reason: "UNAUTHENTICATED" });
    const secured = await connect(securedUrl, { ...trusting, auth: { bearer: token } });
    assert.equal(getAnswerText(requireTask(await secured.send("count"))), "one two three");
  });
}

/** Runs a scenario with a time limit. A thrown error is the reason for a failure. */
export async function runScenario(scenario: string, work: () => Promise<void>): Promise<ScenarioOutcome> {
  const deadline = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => deadline.reject(new Error(`no end within ${SCENARIO_TIMEOUT_MS} ms`)),
    SCENARIO_TIMEOUT_MS,
  );
  try {
    await Promise.race([work(), deadline.promise]);
    return { scenario, ok: true };
  } catch (error) {
    const reason = error instanceof A2AError ? `${error.reason}: ` : "";
    return {
      scenario,
      ok: false,
      detail: `${reason}${error instanceof Error ? error.message : String(error)}`,
    };
  } finally {
    clearTimeout(timer);
  }
}

const SCENARIOS: Readonly<Record<string, (remote: A2AClient) => Promise<void>>> = {
  async send(remote) {
    const task = requireTask(await remote.send("count"));
    assert.deepEqual([task.status.state, getAnswerText(task)], ["TASK_STATE_COMPLETED", "one two three"]);
  },

  async stream(remote) {
    const task = requireTask(await collect(remote.stream("count")));
    assert.deepEqual([task.status.state, getAnswerText(task)], ["TASK_STATE_COMPLETED", "one two three"]);
  },

  async "follow-up"(remote) {
    const question = requireTask(await collect(remote.stream("ask")));
    assert.equal(question.status.state, "TASK_STATE_INPUT_REQUIRED");
    const about = { taskId: question.id, contextId: question.contextId };
    // The pause gives Python's 0.3 SDK time to remove the queue of the previous turn. Without it, the SDK
    // also removes the queue of this turn.
    await pause(100);
    const done = requireTask(await remote.send("blue", about));
    assert.deepEqual([done.id, getAnswerText(done)], [question.id, "got blue"]);
  },

  async "follow-up stream"(remote) {
    const { id: taskId, contextId } = requireTask(await collect(remote.stream("ask")));
    await pause(100);
    const events: StreamResponse[] = [];
    for await (const event of remote.stream("blue", { taskId, contextId })) events.push(event);
    // The first event shows neither the answered question nor earlier artifacts.
    assert.notEqual(findTaskStateInStreamEvent(events[0] as StreamResponse), "TASK_STATE_INPUT_REQUIRED");
    const first = events[0];
    assert.deepEqual(first && "task" in first ? (first.task.artifacts ?? []) : [], []);
    const task = requireTask(await collect(ReadableStream.from(events)));
    assert.deepEqual([task.status.state, getAnswerText(task)], ["TASK_STATE_COMPLETED", "got blue"]);
  },

  async "sign-in"(remote) {
    const { status } = requireTask(await remote.send("sign in"));
    assert.equal(status.state, "TASK_STATE_AUTH_REQUIRED");
    assert.equal(getText(status.message?.parts ?? []), "Sign in first.");
  },

  async files(remote) {
    const { artifacts = [] } = requireTask(await collect(remote.stream("files")));
    const [, file, data] = artifacts.flatMap(({ parts }) => parts);
    assert.partialDeepStrictEqual(file, { raw: "iVBORw0KGgo=", filename: "dot.png", mediaType: "image/png" });
    assert.partialDeepStrictEqual(data, { data: { width: 1 } });
    // Two of the bytes 80, 81, and ff are not ASCII, and none is valid UTF-8: every wrong encoding changes them.
    const image = { raw: "gIH/", filename: "in.png", mediaType: "image/png" };
    const received = requireTask(
      await remote.send({ parts: [{ text: "receive" }, image, { data: { a: 1 } }] }),
    );
    assert.equal(getAnswerText(received), "Received: text gIH/ data");
  },

  async get(remote) {
    const { id } = requireTask(await remote.send("count"));
    const task = await remote.tasks.get(id, { historyLength: 1 });
    assert.deepEqual([task.id, task.history?.length], [id, 1]);
  },

  async list(remote) {
    const { id, contextId } = requireTask(await remote.send("count"));
    const page = await remote.tasks.list({ contextId, pageSize: 5 });
    assert.deepEqual(
      page.tasks.map((task) => task.id),
      [id],
    );
    const defaultPage = await remote.tasks.list({ contextId });
    assert.equal(defaultPage.tasks.length, 1);
  },

  async "cancel, subscribe"(remote) {
    let id = "";
    for await (const event of remote.stream("wait")) {
      if ("task" in event) ({ id } = event.task);
      if (findTaskStateInStreamEvent(event) === "TASK_STATE_WORKING") break;
    }
    const subscription = remote.tasks.subscribe(id)[Symbol.asyncIterator]();
    const first = await subscription.next();
    assert.equal(findTaskStateInStreamEvent(first.value as StreamResponse), "TASK_STATE_WORKING");
    assert.equal((await remote.tasks.cancel(id)).status.state, "TASK_STATE_CANCELED");
    let last: string | undefined;
    for await (const event of { [Symbol.asyncIterator]: () => subscription })
      last = findTaskStateInStreamEvent(event) ?? last;
    assert.equal(last, "TASK_STATE_CANCELED");
  },

  async "push configuration"(remote) {
    const { pushConfigs } = remote.tasks;
    const { id } = requireTask(await remote.send("ask"));
    const made = await pushConfigs.create(id, { id: "mine", url: WEBHOOK_URL, token: "secret" });
    assert.equal(made.url, WEBHOOK_URL);
    assert.equal((await pushConfigs.get(id, "mine")).url, WEBHOOK_URL);
    assert.deepEqual(
      (await pushConfigs.list(id)).configs.map((one) => one.id),
      ["mine"],
    );
    await pushConfigs.delete(id, "mine");
    assert.equal((await pushConfigs.list(id)).configs.length, 0);
  },

  async "push delivery"(remote) {
    const hook = await startTestWebhook("secret");
    try {
      const { id } = requireTask(await remote.send("ask"));
      await remote.tasks.pushConfigs.create(id, { url: hook.url, token: "secret" });
      await remote.send("blue", { taskId: id });
      await hook.first((event) => findTaskStateInStreamEvent(event) === "TASK_STATE_COMPLETED");
    } finally {
      hook.close();
    }
  },

  async errors(remote) {
    const { id } = requireTask(await remote.send("count"));
    await assert.rejects(remote.tasks.get("nobody"), { reason: "TASK_NOT_FOUND" });
    await assert.rejects(remote.tasks.cancel("nobody"), { reason: "TASK_NOT_FOUND" });
    await assert.rejects(remote.tasks.cancel(id), { reason: "TASK_NOT_CANCELABLE" });
    // A2A 0.3 does not define the error for a message to a terminal task.
    const expected = remote.agentInterface.protocolVersion.startsWith("1.")
      ? { reason: "UNSUPPORTED_OPERATION" }
      : A2AError;
    await assert.rejects(collect(remote.stream("more", { taskId: id })), expected);
  },
};

function requireTask(response: SendMessageResponse): Task {
  if ("task" in response) return response.task;
  throw new Error("the agent answered with a message");
}

function getAnswerText({ artifacts = [] }: Task): string {
  return artifacts.map(({ parts }) => getText(parts)).join("");
}

function findTaskStateInStreamEvent(event: StreamResponse): string | undefined {
  if ("task" in event) return event.task.status.state;
  return "statusUpdate" in event ? event.statusUpdate.status.state : undefined;
}
