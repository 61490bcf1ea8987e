import { describe, expect, it } from "vitest";
import { A2AError, textOf, type Task } from "../protocol/index.ts";
import { MemoryStore } from "../stores/index.ts";
import {
  alice,
  askForInput,
  bob,
  chunk,
  completed,
  drain,
  FakeClock,
  house,
  Puppet,
  request,
  scopeOf,
  settle,
  word,
  working,
  reasonOf,
  taskOf,
} from "./engine.fixture.ts";

describe("a message begins a task", () => {
  it("and is answered with the finished task [F-01, F-02, F-04, F-08]", async () => {
    const { engine, puppet } = house();
    const answer = engine.send(request("hi"), alice);
    (await puppet.run(0)).say(working, chunk("Hel", false), chunk("lo")).end();
    const task = taskOf(await answer);
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(textOf(task.artifacts?.[0]?.parts ?? [])).toBe("Hello");
    expect(task.history?.[0]).toMatchObject({
      role: "ROLE_USER",
      taskId: task.id,
      contextId: task.contextId,
    });
    expect(await engine.get({ id: task.id }, alice)).toEqual(task);
  });

  it("and is answered at once when asked to [F-03]", async () => {
    const { engine, puppet } = house();
    const answer = await engine.send(request("hi", { configuration: { returnImmediately: true } }), alice);
    expect(taskOf(answer).status.state).toBe("TASK_STATE_SUBMITTED");
    (await puppet.run(0)).say(working).end();
    await settle();
    expect((await engine.get({ id: taskOf(answer).id }, alice)).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("in the context that the caller names [F-08]", async () => {
    const { engine, puppet } = house();
    const answer = engine.send(request("hi", { contextId: "ctx" }), alice);
    (await puppet.run(0)).end();
    expect(taskOf(await answer).contextId).toBe("ctx");
  });

  it("with as much history in the answer as was asked for [F-14, F-31]", async () => {
    const { engine, puppet } = house();
    const answer = engine.send(request("hi", { configuration: { historyLength: 0 } }), alice);
    (await puppet.run(0)).end();
    const task = taskOf(await answer);
    expect(task).not.toHaveProperty("history");
    expect((await engine.get({ id: task.id, historyLength: 1 }, alice)).history).toHaveLength(1);
  });

  it("which fails when the agent throws, without telling what is private [F-18]", async () => {
    const { engine, puppet, errors } = house();
    const answer = engine.send(request("hi"), alice);
    (await puppet.run(0)).fail(new Error("password=hunter2"));
    const { status } = taskOf(await answer);
    expect(status.state).toBe("TASK_STATE_FAILED");
    expect(textOf(status.message?.parts ?? [])).toMatch(/error id [0-9a-f]{8}/);
    expect(JSON.stringify(status)).not.toContain("hunter2");
    expect(String(errors[0])).toContain("hunter2");
  });

  it("which fails with a reason when the agent yields what is no event [F-18]", async () => {
    const { engine, puppet } = house();
    const answer = engine.send(request("hi"), alice);
    (await puppet.run(0)).say({ artifact: { artifactId: "a", parts: [] } });
    expect(textOf(taskOf(await answer).status.message?.parts ?? [])).toContain("artifact a has no parts");
  });

  it("unless the agent answers with a plain message [F-01, G-01]", async () => {
    const { engine, puppet } = house({ puppet: new Puppet({ opensWith: "either" }) });
    const answer = engine.send(request("hi"), alice);
    (await puppet.run(0)).say({ message: { parts: [{ text: "ho" }] } });
    expect(await answer).toMatchObject({ message: { role: "ROLE_AGENT", parts: [{ text: "ho" }] } });
    const stream = engine.stream(request("hi"), alice);
    (await puppet.run(1)).say({ message: { parts: [{ text: "ho" }] } });
    expect((await drain(await stream)).map(({ event }) => word(event))).toEqual(["message"]);
    expect((await engine.list({}, alice)).totalSize).toBe(0);
    expect(puppet.runs.every(({ left }) => left)).toBe(true);
  });

  it("and as a task's last message to a caller who must have a task, which is there at once", async () => {
    const { engine, puppet } = house({ puppet: new Puppet({ opensWith: "either" }) });
    const now = { ...request("hi"), configuration: { returnImmediately: true } };
    const { id } = taskOf(await engine.send(now, alice, { needsTask: true }));
    (await puppet.run(0)).say({ message: { parts: [{ text: "ho" }] } }).end();
    const stream = await engine.subscribe({ id }, alice, { after: 0 });
    expect((await drain(stream)).map(({ event }) => word(event))).toEqual(["task SUBMITTED", "COMPLETED"]);
    const { status } = await engine.get({ id }, alice);
    expect(status.message).toMatchObject({ role: "ROLE_AGENT", parts: [{ text: "ho" }] });
  });
});

describe("a message to a task", () => {
  async function waiting(
    options: Parameters<typeof house>[0] = {},
  ): Promise<ReturnType<typeof house> & { task: Task }> {
    const set = house(options);
    const answer = set.engine.send(request("book"), alice);
    (await set.puppet.run(0)).say(working, askForInput).end();
    return { ...set, task: taskOf(await answer) };
  }

  it("that waits for input is its next turn, with the whole conversation [F-02, F-06, F-15]", async () => {
    const { engine, puppet, task } = await waiting();
    expect(task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const answer = engine.send(request("Bonn", { taskId: task.id }), alice);
    const second = await puppet.run(1);
    expect(second.run.task.history?.map(({ parts }) => textOf(parts))).toEqual(["book", "which?", "Bonn"]);
    second.say(working, chunk("booked", false)).end();
    const done = taskOf(await answer);
    expect(done.status.state).toBe("TASK_STATE_COMPLETED");
    expect(done.history?.map(({ parts }) => textOf(parts))).toEqual(["book", "which?", "Bonn"]);
  });

  it("is at work at once: nobody who asks is told that input is still required", async () => {
    const { engine, puppet, task } = await waiting();
    const configuration = { returnImmediately: true };
    const answer = taskOf(await engine.send(request("Bonn", { taskId: task.id, configuration }), alice));
    expect(answer.status.state).toBe("TASK_STATE_WORKING");
    expect((await engine.get({ id: task.id }, alice)).status.state).toBe("TASK_STATE_WORKING");
    (await puppet.run(1)).end();
  });

  it("streams from the task as this turn found it [G-01, F-52]", async () => {
    const { engine, puppet, task } = await waiting();
    const opening = engine.stream(request("Bonn", { taskId: task.id }), alice);
    (await puppet.run(1)).say(working, chunk("booked", false)).end();
    const seen = await drain(await opening);
    expect(seen.map(({ event }) => word(event))).toEqual([
      "task INPUT_REQUIRED",
      "WORKING",
      "booked",
      "COMPLETED",
    ]);
    expect(seen.map(({ seq }) => seq)).toEqual([4, 5, 6, 7]);
  });

  it("that has ended is refused, in both operations [F-05]", async () => {
    const { engine, puppet } = house();
    const answer = engine.send(request("hi"), alice);
    (await puppet.run(0)).end();
    const { id } = taskOf(await answer);
    expect(await reasonOf(engine.send(request("more", { taskId: id }), alice))).toBe("UNSUPPORTED_OPERATION");
    expect(await reasonOf(engine.stream(request("more", { taskId: id }), alice))).toBe(
      "UNSUPPORTED_OPERATION",
    );
  });

  it("that does not exist is refused [F-04]", async () => {
    const { engine } = house();
    expect(await reasonOf(engine.send(request("hi", { taskId: "nope" }), alice))).toBe("TASK_NOT_FOUND");
  });

  it("with another context is refused, and the field is named [F-07]", async () => {
    const { engine, task } = await waiting();
    const wrong = engine.send(request("x", { taskId: task.id, contextId: "other" }), alice);
    await expect(wrong).rejects.toMatchObject({
      reason: "INVALID_PARAMS",
      violations: [{ field: "message.contextId" }],
    });
  });

  it("that is at work is refused unless the agent queues; two agents never work at once [E11, F-15]", async () => {
    const { engine, puppet } = house();
    const first = engine.send(request("hi"), alice);
    const run = await puppet.run(0);
    run.say(working);
    await settle();
    const id = run.run.taskId;
    expect(await reasonOf(engine.send(request("more", { taskId: id }), alice))).toBe("UNSUPPORTED_OPERATION");
    run.end();
    await first;
    expect(puppet.runs).toHaveLength(1);
  });

  it("that is at work waits for its turn when the agent queues [E11]", async () => {
    const { engine, puppet } = house({ puppet: new Puppet({ whileWorking: "queue" }) });
    const first = engine.send(request("one"), alice);
    const run = await puppet.run(0);
    run.say(working);
    await settle();
    const second = engine.send(request("two", { taskId: run.run.taskId }), alice);
    await settle();
    expect(puppet.runs).toHaveLength(1);
    run.say(askForInput).end();
    expect(taskOf(await first).status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    (await puppet.run(1)).say(working).end();
    expect(taskOf(await second).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("waiting behind a turn that ends the task is refused, and the queue is bounded [E11, E14]", async () => {
    const { engine, puppet } = house({
      puppet: new Puppet({ whileWorking: "queue" }),
      limits: { queuedTurns: 2 },
    });
    const first = engine.send(request("one"), alice);
    const run = await puppet.run(0);
    run.say(working);
    await settle();
    const taskId = run.run.taskId;
    const queued = [1, 2].map(() => reasonOf(engine.send(request("more", { taskId }), alice)));
    await settle();
    expect(await reasonOf(engine.send(request("too many", { taskId }), alice))).toBe("RESOURCE_EXHAUSTED");
    run.end();
    await first;
    expect(await Promise.all(queued)).toEqual(["UNSUPPORTED_OPERATION", "UNSUPPORTED_OPERATION"]);
  });
});

describe("the same message sent twice [E10]", () => {
  it("is one task, while it runs and afterwards", async () => {
    const { engine, puppet } = house();
    const again = request("hi");
    const answers = [engine.send(again, alice), engine.send(again, alice)];
    (await puppet.run(0)).say(chunk("x", false)).end();
    const [first, second] = (await Promise.all(answers)).map(taskOf);
    expect(second?.id).toBe(first?.id);
    expect(taskOf(await engine.send(structuredClone(again), alice)).id).toBe(first?.id);
    expect(puppet.runs).toHaveLength(1);
  });

  it("streams the same events again, and from where the caller stopped", async () => {
    const { engine, puppet } = house();
    const again = request("hi");
    const first = engine.stream(again, alice);
    (await puppet.run(0)).say(working, chunk("x", false)).end();
    const seen = await drain(await first);
    expect(await drain(await engine.stream(again, alice))).toEqual(seen);
    expect(await drain(await engine.stream(again, alice, { after: 2 }))).toEqual(seen.slice(2));
    expect(await drain(await engine.stream(again, alice, { after: seen.length }))).toEqual([]);
  });

  it("with other content is an error that names the field", async () => {
    const { engine, puppet } = house();
    const first = engine.send(request("hi", { messageId: "same" }), alice);
    const during = engine.send(request("ho", { messageId: "same" }), alice);
    await expect(during).rejects.toMatchObject({ violations: [{ field: "message.messageId" }] });
    (await puppet.run(0)).end();
    await first;
    const after = engine.send(request("ho", { messageId: "same" }), alice);
    await expect(after).rejects.toMatchObject({ violations: [{ field: "message.messageId" }] });
  });

  it("is two tasks for an engine that was told not to look", async () => {
    const { engine, puppet } = house({ deduplicate: false });
    const again = request("hi");
    const answers = [engine.send(again, alice), engine.send(again, alice)];
    for (const at of [0, 1]) (await puppet.run(at)).end();
    const [one, other] = (await Promise.all(answers)).map(taskOf);
    expect(one?.id).not.toBe(other?.id);
  });

  it("by another caller is another task", async () => {
    const { engine, puppet } = house();
    const again = request("hi");
    const answers = [engine.send(again, alice), engine.send(again, bob)];
    for (const at of [0, 1]) (await puppet.run(at)).end();
    const [one, other] = (await Promise.all(answers)).map(taskOf);
    expect(one?.id).not.toBe(other?.id);
  });
});

describe("cancel", () => {
  it("reaches the agent as an abort, and CANCELED stays [E8, F-40, F-42, F-43]", async () => {
    const { engine, puppet, clock } = house();
    const answer = engine.send(request("hi"), alice);
    const run = await puppet.run(0);
    run.say(working);
    await settle();
    run.run.signal.addEventListener("abort", () => run.end());
    const canceled = await engine.cancel({ id: run.run.taskId }, alice);
    expect(canceled.status.state).toBe("TASK_STATE_CANCELED");
    expect(taskOf(await answer).status.state).toBe("TASK_STATE_CANCELED");
    expect(await engine.cancel({ id: run.run.taskId }, alice)).toEqual(canceled);
    expect(clock.pending).toBe(0);
  });

  it("fences off an agent that ignores the signal, after the grace period [E8, E7]", async () => {
    const { engine, puppet, clock } = house({ cancelGraceMs: 1000 });
    const answer = engine.send(request("hi"), alice);
    const run = await puppet.run(0);
    run.say(working, chunk("before", false));
    await settle();
    const canceling = engine.cancel({ id: run.run.taskId }, alice);
    await settle();
    expect(run.run.signal.aborted).toBe(true);
    clock.advance(999);
    await settle();
    expect((await engine.get({ id: run.run.taskId }, alice)).status.state).toBe("TASK_STATE_WORKING");
    clock.advance(1);
    const canceled = await canceling;
    run.say(chunk("after"), completed).end();
    await settle();
    expect(canceled.status.state).toBe("TASK_STATE_CANCELED");
    expect(await engine.get({ id: run.run.taskId }, alice)).toEqual(canceled);
    expect(textOf(canceled.artifacts?.[0]?.parts ?? [])).toBe("before");
    expect(taskOf(await answer)).toEqual(canceled);
    expect(run.left).toBe(true);
  });

  it("lets the agent end otherwise in time [F-43]", async () => {
    const { engine, puppet } = house();
    const answer = engine.send(request("hi"), alice);
    const run = await puppet.run(0);
    run.say(working);
    await settle();
    run.run.signal.addEventListener("abort", () => run.say(completed).end());
    expect((await engine.cancel({ id: run.run.taskId }, alice)).status.state).toBe("TASK_STATE_COMPLETED");
    await answer;
  });

  it("works on a task that waits for input, and tells its readers [F-43]", async () => {
    const { engine, puppet } = house();
    const answer = engine.send(request("hi"), alice);
    (await puppet.run(0)).say(askForInput).end();
    const { id } = taskOf(await answer);
    const reader = drain(await engine.subscribe({ id }, alice));
    expect((await engine.cancel({ id }, alice)).status.state).toBe("TASK_STATE_CANCELED");
    expect((await reader).map(({ event }) => word(event))).toEqual(["task INPUT_REQUIRED", "CANCELED"]);
  });

  it("tells the agent of a task that waits, as it was, and whose it is; what the agent throws harms nobody", async () => {
    const told: unknown[] = [];
    class Listening extends Puppet {
      async cancelled({ status }: Task, caller: object): Promise<void> {
        told.push([status.state, caller]);
        throw new Error("cannot be helped");
      }
    }
    const { engine, puppet, errors } = house({ puppet: new Listening() });
    const answer = engine.send(request("hi"), alice);
    (await puppet.run(0)).say(askForInput).end();
    const { id } = taskOf(await answer);
    expect((await engine.cancel({ id }, alice)).status.state).toBe("TASK_STATE_CANCELED");
    await engine.cancel({ id }, alice);
    expect(told).toEqual([["TASK_STATE_INPUT_REQUIRED", alice]]);
    expect(errors).toEqual([new Error("cannot be helped")]);
  });

  it("is refused for what is done, and for what is not there [F-41]", async () => {
    const { engine, puppet } = house();
    const answer = engine.send(request("hi"), alice);
    (await puppet.run(0)).end();
    expect(await reasonOf(engine.cancel({ id: taskOf(await answer).id }, alice))).toBe("TASK_NOT_CANCELABLE");
    expect(await reasonOf(engine.cancel({ id: "nope" }, alice))).toBe("TASK_NOT_FOUND");
  });
});

describe("readers", () => {
  it("begin with the task, and follow it across turns to its end [E3, F-50, F-52, G-02, G-03]", async () => {
    const { engine, puppet } = house();
    const first = engine.send(request("hi"), alice);
    const run = await puppet.run(0);
    run.say(working);
    await settle();
    const id = run.run.taskId;
    const readers = [await engine.subscribe({ id }, alice), await engine.subscribe({ id }, alice)];
    run.say(chunk("a", false), askForInput).end();
    await first;
    const early = await engine.subscribe({ id }, alice);
    await early.next();
    early.close();
    const second = engine.send(request("go", { taskId: id }), alice);
    (await puppet.run(1)).say(working, chunk("b")).end();
    await second;
    const [one, two] = await Promise.all(readers.map(drain));
    expect(one).toEqual(two);
    expect(one?.map(({ event }) => word(event))).toEqual([
      "task WORKING",
      "a",
      "INPUT_REQUIRED",
      "WORKING",
      "b",
      "COMPLETED",
    ]);
  });

  it("of a message's stream stop where the turn asks for input [G-04]", async () => {
    const { engine, puppet } = house();
    const stream = engine.stream(request("hi"), alice);
    (await puppet.run(0)).say(working, askForInput).end();
    expect((await drain(await stream)).map(({ event }) => word(event))).toEqual([
      "task SUBMITTED",
      "WORKING",
      "INPUT_REQUIRED",
    ]);
  });

  it("of a message's stream stay while authorization is awaited [G-04, M-05]", async () => {
    const { engine, puppet } = house();
    const stream = engine.stream(request("hi"), alice);
    const run = await puppet.run(0);
    run.say({ status: { state: "TASK_STATE_AUTH_REQUIRED" } });
    await settle();
    run.say(working).end();
    expect((await drain(await stream)).map(({ event }) => word(event)).slice(1)).toEqual([
      "AUTH_REQUIRED",
      "WORKING",
      "COMPLETED",
    ]);
  });

  it("who leave change nothing [E2, F-19]", async () => {
    const { engine, puppet } = house();
    const stream = await engine.stream(request("hi"), alice);
    await stream.next();
    stream.close();
    const run = await puppet.run(0);
    run.say(working, chunk("whole", false)).end();
    await settle();
    const task = await engine.get({ id: run.run.taskId }, alice);
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(textOf(task.artifacts?.[0]?.parts ?? [])).toBe("whole");
    expect(await stream.next()).toBeUndefined();
  });

  it("who never read hold up nobody [E2, E5]", async () => {
    const { engine, puppet } = house({ merge: false });
    const stalled = await engine.stream(request("hi"), alice);
    const run = await puppet.run(0);
    const reader = drain(await engine.subscribe({ id: run.run.taskId }, alice));
    run.say(working);
    for (let at = 0; at < 5000; at++) run.say(chunk(`${at} `, at > 0));
    run.end();
    const seen = await reader;
    expect(seen.at(-1) && word(seen.at(-1)!.event)).toBe("COMPLETED");
    // The stalled one reads the log afterwards: everything, once.
    const late = await drain(stalled);
    expect(late.map(({ seq }) => seq)).toEqual(Array.from({ length: 5003 }, (_, at) => at + 1));
  });

  it("resume exactly behind what they have, also when the task has ended [E4]", async () => {
    const { engine, puppet } = house({ merge: false });
    const stream = engine.stream(request("hi"), alice);
    const run = await puppet.run(0);
    run.say(working, chunk("a", false), chunk("b")).end();
    const seen = await drain(await stream);
    for (let after = 0; after <= seen.length; after++) {
      const rest = await drain(await engine.subscribe({ id: run.run.taskId }, alice, { after: after }));
      expect(rest).toEqual(seen.slice(after));
    }
    const beyond = engine.subscribe({ id: run.run.taskId }, alice, { after: 99 });
    await expect(beyond).rejects.toMatchObject({ violations: [{ field: "Last-Event-ID" }] });
  });

  it("of a task that has ended, or that is not there, are refused [F-51]", async () => {
    const { engine, puppet } = house();
    const answer = engine.send(request("hi"), alice);
    (await puppet.run(0)).end();
    const { id } = taskOf(await answer);
    expect(await reasonOf(engine.subscribe({ id }, alice))).toBe("UNSUPPORTED_OPERATION");
    expect(await reasonOf(engine.subscribe({ id: "nope" }, alice))).toBe("TASK_NOT_FOUND");
  });

  it("see nothing that is not durable [E1]", async () => {
    const store = new MemoryStore();
    const gate = Promise.withResolvers<void>();
    let gated = false;
    const commit = store.commit.bind(store);
    store.commit = async (batch) => {
      if (gated) await gate.promise;
      return commit(batch);
    };
    const { engine, puppet } = house({ store });
    const stream = await engine.stream(request("hi"), alice);
    const run = await puppet.run(0);
    expect(await stream.next()).toHaveLength(1);
    gated = true;
    run.say(working, chunk("x", false));
    let seen = false;
    const next = stream.next().then((events) => {
      seen = true;
      return events;
    });
    await settle();
    expect(seen).toBe(false);
    expect((await engine.get({ id: run.run.taskId }, alice)).status.state).toBe("TASK_STATE_SUBMITTED");
    gate.resolve();
    expect((await next)?.map(({ seq }) => seq)).toEqual([2, 3]);
    run.end();
  });
});

describe("ownership", () => {
  it("makes somebody else's task the same as no task, in every operation [E13, M-02, M-03, M-04, F-30]", async () => {
    const { engine, puppet } = house();
    const answer = engine.send(request("hi"), alice);
    (await puppet.run(0)).say(askForInput).end();
    const { id } = taskOf(await answer);
    const strangers = [bob, { tenant: "other", principal: "alice" }];
    const told = async (promise: Promise<unknown>): Promise<string> =>
      promise.then(
        () => "something",
        (error: A2AError) => `${error.reason} ${error.message}`,
      );
    for (const stranger of strangers) {
      for (const task of [id, "00000000-0000-4000-8000-000000000000"]) {
        const expected = `TASK_NOT_FOUND ${A2AError.taskNotFound(task).message}`;
        expect(await told(engine.get({ id: task }, stranger))).toBe(expected);
        expect(await told(engine.cancel({ id: task }, stranger))).toBe(expected);
        expect(await told(engine.subscribe({ id: task }, stranger))).toBe(expected);
        expect(await told(engine.subscribe({ id: task }, stranger, { after: 1 }))).toBe(expected);
        expect(await told(engine.send(request("x", { taskId: task }), stranger))).toBe(expected);
        expect(await told(engine.stream(request("x", { taskId: task }), stranger))).toBe(expected);
      }
      expect(await engine.list({}, stranger)).toMatchObject({ tasks: [], totalSize: 0 });
    }
    expect((await engine.list({}, alice)).totalSize).toBe(1);
  });

  it("keeps contexts of the same name apart [E13, M-04]", async () => {
    const { engine, puppet } = house();
    const answer = engine.send(request("hi", { contextId: "shared" }), alice);
    (await puppet.run(0)).end();
    await answer;
    expect((await engine.list({ contextId: "shared" }, bob)).totalSize).toBe(0);
  });
});

describe("bounds [E14]", () => {
  it("refuse one run too many, in all and per caller, and let it in afterwards", async () => {
    const { engine, puppet } = house({ limits: { runs: 3, runsPerCaller: 2 } });
    const running = [1, 2].map(() => engine.send(request("hi"), alice));
    await settle();
    expect(await reasonOf(engine.send(request("hi"), alice))).toBe("RESOURCE_EXHAUSTED");
    running.push(engine.send(request("hi"), bob));
    await settle();
    const refused = engine.send(request("hi"), { tenant: "", principal: "carol" });
    await expect(refused).rejects.toMatchObject({ reason: "RESOURCE_EXHAUSTED", retryAfter: 1 });
    for (const run of puppet.runs) run.end();
    await Promise.all(running);
    const again = engine.send(request("hi"), alice);
    (await puppet.run(3)).end();
    expect(taskOf(await again).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("refuse one stream too many, and give the place back", async () => {
    const { engine, puppet } = house({ limits: { streams: 1 } });
    const stream = await engine.stream(request("hi"), alice);
    const { taskId } = (await puppet.run(0)).run;
    expect(await reasonOf(engine.subscribe({ id: taskId }, alice))).toBe("RESOURCE_EXHAUSTED");
    stream.close();
    (await engine.subscribe({ id: taskId }, alice)).close();
    await expect(engine.subscribe({ id: "nope" }, alice)).rejects.toThrow();
    (await engine.subscribe({ id: taskId }, alice)).close();
  });

  it("hold the agent back while the store is behind [E6]", async () => {
    const store = new MemoryStore();
    const commit = store.commit.bind(store);
    const gate = Promise.withResolvers<void>();
    store.commit = async (batch) => {
      await gate.promise;
      return commit(batch);
    };
    const { engine, puppet } = house({ store, merge: false });
    const answer = engine.send(request("hi"), alice);
    const run = await puppet.run(0);
    for (let at = 0; at < 2000; at++) run.say(chunk("x", at > 0));
    run.end();
    await settle();
    expect(run.pulled).toBeLessThan(600);
    gate.resolve();
    expect(textOf(taskOf(await answer).artifacts?.[0]?.parts ?? [])).toHaveLength(2000);
  });
});

describe("commits", () => {
  /** A store whose every commit takes a while. */
  function slowStore(clock: FakeClock, ms: number): { store: MemoryStore; commits: number[] } {
    const store = new MemoryStore();
    const commit = store.commit.bind(store);
    const commits: number[] = [];
    store.commit = (batch) => {
      clock.time += ms;
      commits.push(batch.reduce((sum, { events }) => sum + events.length, 0));
      return commit(batch);
    };
    return { store, commits };
  }

  it("of chunks rest as long as the last one took, so that a stream does not drown the disk [E6]", async () => {
    const clock = new FakeClock();
    const { store, commits } = slowStore(clock, 10);
    const { engine, puppet } = house({ store, clock });
    const stream = await engine.stream(request("hi"), alice);
    const run = await puppet.run(0);
    await settle();
    for (const text of ["a", "b", "c"]) {
      run.say(chunk(text));
      await settle();
    }
    expect(commits).toEqual([1]);
    clock.advance(10);
    await settle();
    expect(commits).toEqual([1, 1]);
    run.say(chunk("d")).end();
    expect((await drain(stream)).map(({ event }) => word(event))).toEqual([
      "task SUBMITTED",
      "abc",
      "d",
      "COMPLETED",
    ]);
  });

  it("of anything that is waited for do not rest [E6]", async () => {
    const clock = new FakeClock();
    const { store, commits } = slowStore(clock, 10);
    const { engine, puppet } = house({ store, clock });
    const answer = engine.send(request("hi"), alice);
    const run = await puppet.run(0);
    await settle();
    run.say(chunk("a"));
    await settle();
    run.say(working).end();
    expect(taskOf(await answer).status.state).toBe("TASK_STATE_COMPLETED");
    expect(commits.reduce((sum, events) => sum + events)).toBe(4);
  });
});

describe("a store", () => {
  it("is told whether agents are at work, whom it should not keep waiting", async () => {
    const store = new MemoryStore();
    const commit = store.commit.bind(store);
    const told: unknown[] = [];
    store.commit = (batch, about?: object) => {
      told.push([batch.length, about]);
      return commit(batch);
    };
    const { engine, puppet } = house({ store });
    const answers = ["a", "b"].map((text) => engine.send(request(text), alice));
    await puppet.run(1);
    await settle();
    for (const run of puppet.runs) {
      run.end();
      await settle();
    }
    await Promise.all(answers);
    expect(told).toEqual([
      [2, { agentsAtWork: true }],
      [1, { agentsAtWork: true }],
      [1, { agentsAtWork: false }],
    ]);
  });
});

describe("time [E16]", () => {
  it("never goes backwards in a task, and is UTC with milliseconds [G-09]", async () => {
    const { engine, puppet, clock } = house();
    const stream = engine.stream(request("hi"), alice);
    const run = await puppet.run(0);
    clock.advance(5000);
    run.say(working);
    await settle();
    clock.time -= 60_000;
    run.say({ status: { state: "TASK_STATE_WORKING", message: { parts: [{ text: "on it" }] } } }).end();
    const times = (await drain(await stream)).map(({ event }) =>
      "task" in event
        ? event.task.status.timestamp
        : "statusUpdate" in event
          ? event.statusUpdate.status.timestamp
          : "",
    );
    expect(times).toEqual(["2026-01-01T00:00:00.000Z", ...Array(3).fill("2026-01-01T00:00:05.000Z")]);
  });
});

describe("an engine that comes after another", () => {
  it("fails the tasks that nobody works on any more, with a reason, and keeps those that wait [E9]", async () => {
    const store = new MemoryStore();
    const before = house({ store });
    void before.engine.send(request("hi"), alice).catch(() => {});
    const run = await before.puppet.run(0);
    run.say(working, chunk("half", false));
    const waiting = before.engine.send(request("hi"), alice);
    (await before.puppet.run(1)).say(askForInput).end();
    const { id } = taskOf(await waiting);
    await settle();
    const { engine } = house({ store });
    await engine.open();
    const orphan = await engine.get({ id: run.run.taskId }, alice);
    expect(orphan.status.state).toBe("TASK_STATE_FAILED");
    expect(textOf(orphan.status.message?.parts ?? [])).toContain(
      "The server stopped while the agent was at work",
    );
    expect(textOf(orphan.artifacts?.[0]?.parts ?? [])).toBe("half");
    expect((await engine.get({ id }, alice)).status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    // The dead writer's events are refused from now on, and it says so to those who wait for it.
    const late = before.engine.subscribe({ id: run.run.taskId }, alice);
    run.say(chunk("late"));
    await expect(drain(await late)).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    expect(await store.load(scopeOf(alice), run.run.taskId)).toMatchObject({ task: orphan });
  });
});

describe("a store that fails", () => {
  it("is tried again, and nothing is lost when it comes back [E1]", async () => {
    const store = new MemoryStore();
    const clock = new FakeClock();
    const commit = store.commit.bind(store);
    let failures = 3;
    store.commit = (batch) => (failures-- > 0 ? Promise.reject(new Error("disk full")) : commit(batch));
    const { engine, puppet } = house({ store, clock });
    const answer = engine.send(request("hi"), alice);
    (await puppet.run(0)).say(chunk("x", false)).end();
    for (let at = 0; at < 10; at++) {
      await settle(5);
      clock.advance(5000);
    }
    expect(textOf(taskOf(await answer).artifacts?.[0]?.parts ?? [])).toBe("x");
  });

  it("for good ends the run and tells everybody who waits", async () => {
    const store = new MemoryStore();
    const clock = new FakeClock();
    const commit = store.commit.bind(store);
    let broken = false;
    store.commit = (batch) => (broken ? Promise.reject(new Error("disk full")) : commit(batch));
    const { engine, puppet, errors } = house({ store, clock });
    const stream = await engine.stream(request("hi"), alice);
    const reader = drain(stream);
    const run = await puppet.run(0);
    await settle();
    broken = true;
    run.say(working);
    const told = reasonOf(reader);
    for (let at = 0; at < 10; at++) {
      await settle(5);
      clock.advance(5000);
    }
    expect(await told).toBe("UNAVAILABLE");
    expect(run.run.signal.aborted).toBe(true);
    expect(errors).toHaveLength(1);
    // One task's trouble is not another's.
    broken = false;
    const next = engine.send(request("hi"), alice);
    (await puppet.run(1)).end();
    expect(taskOf(await next).status.state).toBe("TASK_STATE_COMPLETED");
  });
});

describe("close", () => {
  it("ends what runs with a reason, and takes nothing more", async () => {
    const { engine, puppet } = house();
    const answer = engine.send(request("hi"), alice);
    const run = await puppet.run(0);
    run.say(working);
    await settle();
    run.run.signal.addEventListener("abort", () => run.end());
    await engine.close(1000);
    const { status } = taskOf(await answer);
    expect(status.state).toBe("TASK_STATE_FAILED");
    expect(textOf(status.message?.parts ?? [])).toContain("server was stopped");
    expect(await reasonOf(engine.send(request("hi"), alice))).toBe("UNAVAILABLE");
  });
});
