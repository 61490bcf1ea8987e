import { describe, expect, it } from "vitest";
import { textOf } from "../protocol/index.ts";
import { MemoryStore } from "../stores/index.ts";
import type { AgentEvent } from "./agent.ts";
import type { TaskStore } from "./store.ts";
import {
  alice,
  askForInput,
  bob,
  chunk,
  completed,
  drain,
  house,
  Puppet,
  request,
  settle,
  word,
  working,
  reasonOf,
  taskOf,
} from "./engine.fixture.ts";

/** A memory store that has everything serialised when it is committed, as a store on a disk does. */
const strict = (): TaskStore => Object.assign(new MemoryStore(), { snapshots: true });

const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;
const part = (content: unknown): AgentEvent =>
  ({ artifact: { artifactId: "a", parts: [content] } }) as AgentEvent;
const nonsense: [string, unknown][] = [
  ["a number too big for JSON", part({ data: 1n })],
  ["a cycle", part({ data: cyclic })],
  ["a function", part({ data: () => 1 })],
  ["a part of nothing", part(null)],
  ["a part without content", part({})],
  ["text that is none", part({ text: 5 })],
  ["metadata that is no JSON", { ...working, metadata: { n: 1n } }],
  ["a chunk's metadata that is no JSON", { ...chunk("x"), metadata: { n: 1n } }],
  [
    "an artifact's metadata that is no JSON",
    { artifact: { artifactId: "a", parts: [{ text: "x" }], metadata: cyclic } },
  ],
  [
    "a message that is no JSON",
    { status: { state: "TASK_STATE_WORKING", message: { parts: [{ data: 1n }] } } },
  ],
  ["a state that is none", { status: { state: "message" } }],
  ["a state of the language", { status: { state: "constructor" } }],
  ["a word", "hello"],
];

describe("an agent that yields", () => {
  it.each(nonsense)("%s fails its own task, with a reason, and no other [E14, F-18]", async (_, event) => {
    const { engine, puppet } = house({ store: strict() });
    const answers = [engine.send(request("a"), alice), engine.send(request("b"), alice)];
    (await puppet.run(0)).say(event as AgentEvent).end();
    (await puppet.run(1)).say(chunk("fine", false)).end();
    const [bad, good] = (await Promise.all(answers)).map(taskOf);
    expect(bad?.status.state).toBe("TASK_STATE_FAILED");
    expect(textOf(bad?.status.message?.parts ?? [])).toContain("not an event");
    expect(good?.status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("what no store can take fails its own commit, and no other's", async () => {
    const { engine, puppet, errors } = house({ store: strict() });
    const answers = [engine.send(request("a"), alice), engine.send(request("b"), alice)];
    let looked = false;
    const once = {
      toJSON(): string {
        if (looked) throw new Error("too large by now");
        looked = true;
        return "x";
      },
    };
    (await puppet.run(0)).say(part({ data: once })).end();
    (await puppet.run(1)).end();
    expect(await reasonOf(answers[0] as Promise<unknown>)).toBe("UNAVAILABLE");
    expect(taskOf((await answers[1]) as object).status.state).toBe("TASK_STATE_COMPLETED");
    expect(errors).toHaveLength(1);
  });

  it.each(nonsense)("%s as its first word holds no place among the runs [E14]", async (_, event) => {
    const puppet = new Puppet({ opensWith: "either" });
    const { engine } = house({ puppet, limits: { runs: 1 } });
    const answer = engine.send(request("a"), alice);
    (await puppet.run(0)).say(event as AgentEvent).end();
    expect(taskOf(await answer).status.state).toBe("TASK_STATE_FAILED");
    const next = engine.send(request("b"), alice);
    (await puppet.run(1)).end();
    expect(taskOf(await next).status.state).toBe("TASK_STATE_COMPLETED");
  });
});

describe("an agent that answers without a task", () => {
  it.each([
    ["throws while it is left", () => Promise.reject(new Error("cleanup"))],
    ["never finishes leaving", () => new Promise<never>(() => {})],
  ])("and %s has answered all the same", async (_, leave) => {
    const puppet = new Puppet({ opensWith: "either" });
    const next = (): Promise<IteratorResult<AgentEvent>> =>
      Promise.resolve({ done: false, value: { message: { parts: [{ text: "hi" }] } } });
    puppet.execute = () => ({ [Symbol.asyncIterator]: () => ({ next, return: leave }) });
    const { engine } = house({ puppet });
    expect(await engine.send(request("a"), alice)).toMatchObject({ message: { parts: [{ text: "hi" }] } });
  });

  it.each([
    ["a part without content", { parts: [{}] }],
    ["no parts", {}],
  ])("with %s has not answered", async (_, message) => {
    const puppet = new Puppet({ opensWith: "either" });
    const { engine } = house({ puppet, limits: { runs: 1 } });
    for (const at of [0, 1]) {
      const answer = reasonOf(engine.send(request("a"), alice));
      (await puppet.run(at)).say({ message } as AgentEvent).end();
      expect(await answer).toBe("INVALID_AGENT_RESPONSE");
    }
  });

  it("is stopped when the server closes before it has said anything [E15]", async () => {
    const puppet = new Puppet({ opensWith: "either" });
    const { engine, clock } = house({ puppet });
    const answer = reasonOf(engine.send(request("a"), alice));
    const run = await puppet.run(0);
    const closed = engine.close(1000);
    expect(run.run.signal.aborted).toBe(true);
    clock.advance(1000);
    await closed;
    run.say({ message: { parts: [{ text: "too late" }] } });
    expect(await answer).toBe("UNAVAILABLE");
  });
});

describe("requests at the same time", () => {
  async function asking(): Promise<ReturnType<typeof house> & { id: string }> {
    const set = house();
    const answer = set.engine.send(request("hi"), alice);
    (await set.puppet.run(0)).say(askForInput).end();
    const { id } = taskOf(await answer);
    await settle();
    return { ...set, id };
  }

  it("share the one runner of a task, whichever of them fails [E11]", async () => {
    for (let ticks = 0; ticks < 12; ticks++) {
      const { engine, puppet, id } = await asking();
      const refused = reasonOf(engine.subscribe({ id }, alice, { after: 99 }));
      for (let at = 0; at < ticks; at++) await Promise.resolve();
      const answer = engine.send(request("blue", { taskId: id }), alice);
      expect(await refused).toBe("INVALID_PARAMS");
      const run = await puppet.run(1);
      await settle();
      const canceled = engine.cancel({ id }, alice);
      await settle();
      expect(run.run.signal.aborted).toBe(true);
      run.end();
      expect((await canceled).status.state).toBe("TASK_STATE_CANCELED");
      expect(taskOf(await answer).status.state).toBe("TASK_STATE_CANCELED");
    }
  });

  it("to follow a task see what comes, whichever of them fails [E3]", async () => {
    for (let ticks = 0; ticks < 12; ticks++) {
      const { engine, puppet, id } = await asking();
      const refused = reasonOf(engine.subscribe({ id }, alice, { after: 99 }));
      for (let at = 0; at < ticks; at++) await Promise.resolve();
      const stream = await engine.subscribe({ id }, alice);
      await refused;
      const seen = drain(stream);
      const answer = engine.send(request("blue", { taskId: id }), alice);
      (await puppet.run(1)).end();
      await answer;
      await settle();
      stream.close();
      expect((await seen).map(({ event }) => word(event)).at(-1)).toBe("COMPLETED");
    }
  });

  it("to continue a task are one turn and one refusal [E11]", async () => {
    const { engine, puppet, id } = await asking();
    const answers = ["red", "blue"].map((text) => engine.send(request(text, { taskId: id }), alice));
    (await puppet.run(1)).end();
    const reasons = await Promise.all(answers.map(reasonOf));
    expect(reasons.toSorted()).toEqual(["UNSUPPORTED_OPERATION", "nothing"]);
    expect(puppet.runs).toHaveLength(2);
  });
});

describe("a place among the open streams", () => {
  it("is given back when the resume point is refused [E14]", async () => {
    const { engine, puppet } = house({ limits: { streams: 1 } });
    const task = taskOf(
      await engine.send(request("hi", { configuration: { returnImmediately: true } }), alice),
    );
    expect(await reasonOf(engine.subscribe({ id: task.id }, alice, { after: 99 }))).toBe("INVALID_PARAMS");
    const stream = await engine.subscribe({ id: task.id }, alice);
    (await puppet.run(0)).end();
    expect((await drain(stream)).length).toBeGreaterThan(1);
  });
});

describe("the end of a stream", () => {
  it("of a repeated message is where its turn stopped, wherever the caller resumes [E4, E10, G-04]", async () => {
    const { engine, puppet } = house();
    const first = request("hi");
    const answer = engine.send(first, alice);
    (await puppet.run(0)).say(working, askForInput).end();
    const { id } = taskOf(await answer);
    const again = async (after?: number): Promise<string[]> =>
      (await drain(await engine.stream(first, alice, { after: after }))).map(({ event }) => word(event));
    expect(await again(0)).toEqual(["task SUBMITTED", "WORKING", "INPUT_REQUIRED"]);
    expect(await again(2)).toEqual(["INPUT_REQUIRED"]);
    expect(await again(3)).toEqual([]);
    const second = engine.send(request("blue", { taskId: id }), alice);
    const run = await puppet.run(1);
    await settle();
    expect(await again(2)).toEqual(["INPUT_REQUIRED"]);
    expect(await again(3)).toEqual([]);
    run.end();
    await second;
    expect(await again(0)).toEqual(["task SUBMITTED", "WORKING", "INPUT_REQUIRED"]);
    expect(await again(3)).toEqual([]);
    expect(await again(5)).toEqual([]);
  });

  it("is not an answer to a message while the agent goes on by itself [F-02]", async () => {
    const { engine, puppet } = house();
    const answer = engine.send(request("hi"), alice);
    const run = await puppet.run(0);
    run.say({ status: { state: "TASK_STATE_AUTH_REQUIRED" } }, working);
    await settle();
    run.say(chunk("done", false)).end();
    expect(taskOf(await answer).status.state).toBe("TASK_STATE_COMPLETED");
  });
});

describe("a store that chokes on one task", () => {
  it("holds up no other while that is tried again [E14]", async () => {
    const store = new MemoryStore();
    const commit = store.commit.bind(store);
    let victim = "";
    store.commit = (batch) =>
      batch.some(({ taskId }) => taskId === victim) ? Promise.reject(new Error("no")) : commit(batch);
    const { engine, puppet } = house({ store });
    const immediately = { configuration: { returnImmediately: true } };
    victim = taskOf(await engine.send(request("a", immediately), alice)).id;
    const other = engine.send(request("b"), bob);
    (await puppet.run(0)).say(working);
    (await puppet.run(1)).say(working);
    await settle();
    puppet.runs[1]?.say(completed).end();
    // No time passes: the other task does not wait for the next try.
    expect(taskOf(await other).status.state).toBe("TASK_STATE_COMPLETED");
  });
});

describe("close", () => {
  it("lets no message begin that waits behind the running turn [E15]", async () => {
    const puppet = new Puppet({ whileWorking: "queue" });
    const { engine } = house({ puppet });
    const first = engine.send(request("a"), alice);
    const run = await puppet.run(0);
    run.say(working);
    await settle();
    const [task] = (await engine.list({}, alice)).tasks;
    const second = reasonOf(engine.send(request("b", { taskId: task?.id as string }), alice));
    await settle();
    run.say(askForInput).end();
    const closed = engine.close(1000);
    await closed;
    await first;
    expect(await second).toBe("UNAVAILABLE");
    expect(puppet.runs).toHaveLength(1);
  });
});

describe("an observer", () => {
  it("that fails later harms nobody either", async () => {
    const later = (): unknown => Promise.reject(new Error("the log is full"));
    const { engine, puppet } = house({ observer: { onEvent: later } });
    const answer = engine.send(request("hi"), alice);
    (await puppet.run(0)).end();
    expect(taskOf(await answer).status.state).toBe("TASK_STATE_COMPLETED");
    await settle();
  });
});
