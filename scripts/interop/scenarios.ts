import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { collect, connect, type Remote } from "../../src/client/index.ts";
import {
  A2AError,
  type SendMessageResponse,
  type StreamResponse,
  type Task,
  textOf,
} from "../../src/protocol/index.ts";
import { openHook } from "./hook.ts";
import type { Outcome, Way } from "./ways.ts";

const HOOK = "http://127.0.0.1:9/hook";
const LIMIT_MS = 20_000;

/** What our client does with an agent that does as it is told; Python's and Go's clients do the same. */
export async function* callAsUs(url: string, { binding, version }: Way): AsyncGenerator<Outcome> {
  let remote: Remote | undefined;
  yield await outcomeOf("card", async () => {
    remote = await connect(url, { binding, version, reconnect: { tries: 2, firstDelayMs: 50 } });
    assert.equal(remote.card.name, "Obedient");
  });
  if (!remote) return;
  for (const [scenario, work] of Object.entries(SCENARIOS)) {
    if (scenario === "list" && version === "0.3") continue;
    const agent = remote;
    yield await outcomeOf(scenario, () => work(agent));
  }
}

async function outcomeOf(scenario: string, work: () => Promise<void>): Promise<Outcome> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no end within ${LIMIT_MS} ms`)), LIMIT_MS);
  try {
    await Promise.race([work(), late.promise]);
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

const SCENARIOS: Readonly<Record<string, (remote: Remote) => Promise<void>>> = {
  async send(remote) {
    const task = taskOf(await remote.send("count"));
    assert.deepEqual([task.status.state, answer(task)], ["TASK_STATE_COMPLETED", "one two three"]);
  },

  async stream(remote) {
    const task = taskOf(await collect(remote.stream("count")));
    assert.deepEqual([task.status.state, answer(task)], ["TASK_STATE_COMPLETED", "one two three"]);
  },

  async "follow-up"(remote) {
    const asked = taskOf(await collect(remote.stream("ask")));
    assert.equal(asked.status.state, "TASK_STATE_INPUT_REQUIRED");
    const about = { taskId: asked.id, contextId: asked.contextId };
    // Nobody answers within a millisecond; and Python's 0.3 then still puts away the turn before, with the queue of this one.
    await pause(100);
    const done = taskOf(await remote.send("blue", about));
    assert.deepEqual([done.id, answer(done)], [asked.id, "got blue"]);
  },

  async get(remote) {
    const { id } = taskOf(await remote.send("count"));
    const task = await remote.task.get(id, { historyLength: 1 });
    assert.deepEqual([task.id, task.history?.length], [id, 1]);
  },

  async list(remote) {
    const { id, contextId } = taskOf(await remote.send("count"));
    const page = await remote.task.list({ contextId, pageSize: 5 });
    assert.deepEqual(
      page.tasks.map((task) => task.id),
      [id],
    );
  },

  async "cancel, subscribe"(remote) {
    let id = "";
    for await (const event of remote.stream("wait")) {
      if ("task" in event) ({ id } = event.task);
      if (stateOf(event) === "TASK_STATE_WORKING") break;
    }
    const subscription = remote.task.subscribe(id)[Symbol.asyncIterator]();
    const first = await subscription.next();
    assert.equal(stateOf(first.value as StreamResponse), "TASK_STATE_WORKING");
    assert.equal((await remote.task.cancel(id)).status.state, "TASK_STATE_CANCELED");
    let last: string | undefined;
    for await (const event of { [Symbol.asyncIterator]: () => subscription }) last = stateOf(event) ?? last;
    assert.equal(last, "TASK_STATE_CANCELED");
  },

  async "push configuration"(remote) {
    const { push } = remote.task;
    const { id } = taskOf(await remote.send("ask"));
    const made = await push.create(id, { id: "mine", url: HOOK, token: "secret" });
    assert.equal(made.url, HOOK);
    assert.equal((await push.get(id, "mine")).url, HOOK);
    assert.deepEqual(
      (await push.list(id)).configs.map((one) => one.id),
      ["mine"],
    );
    await push.delete(id, "mine");
    assert.equal((await push.list(id)).configs.length, 0);
  },

  async "push delivery"(remote) {
    const hook = await openHook("secret");
    try {
      const { id } = taskOf(await remote.send("ask"));
      await remote.task.push.create(id, { url: hook.url, token: "secret" });
      await remote.send("blue", { taskId: id });
      await hook.first((event) => stateOf(event) === "TASK_STATE_COMPLETED");
    } finally {
      hook.close();
    }
  },

  async errors(remote) {
    const { id } = taskOf(await remote.send("count"));
    await assert.rejects(remote.task.get("nobody"), { reason: "TASK_NOT_FOUND" });
    await assert.rejects(remote.task.cancel("nobody"), { reason: "TASK_NOT_FOUND" });
    await assert.rejects(remote.task.cancel(id), { reason: "TASK_NOT_CANCELABLE" });
    // 0.3 does not say which error it is to write to a task that has ended.
    const wanted = remote.via.protocolVersion.startsWith("1.")
      ? { reason: "UNSUPPORTED_OPERATION" }
      : A2AError;
    await assert.rejects(collect(remote.stream("more", { taskId: id })), wanted);
  },
};

function taskOf(response: SendMessageResponse): Task {
  if ("task" in response) return response.task;
  throw new Error("the agent answered with a message");
}

function answer({ artifacts = [] }: Task): string {
  return artifacts.map(({ parts }) => textOf(parts)).join("");
}

function stateOf(event: StreamResponse): string | undefined {
  if ("task" in event) return event.task.status.state;
  return "statusUpdate" in event ? event.statusUpdate.status.state : undefined;
}
