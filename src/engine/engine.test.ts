import { describe, expect, it } from "vitest";
import { Deferred } from "../base/data-structures/index.ts";
import { A2AError, getText } from "../protocol/index.ts";
import { MemoryStore } from "../stores/index.ts";
import {
  alice,
  inputRequiredTestEvent,
  bob,
  createTestChunkEvent,
  collectSubscriptionEventsForTest,
  FakeClock,
  createEngineFixture,
  createProcessFixture,
  createTestSendMessageRequest,
  createTestTaskScopeForCaller,
  flushEventLoopForTest,
  workingTestEvent,
  getRejectionA2AErrorReasonForTest,
  getTestResponseTask,
} from "./engine.fixture.ts";

describe("ownership", () => {
  it("treats another caller's task as missing in every operation [E13, M-02, M-03, M-04, F-30]", async () => {
    const { engine, agent } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(0)).emit(inputRequiredTestEvent).end();
    const { id } = getTestResponseTask(await answer);
    const strangers = [bob, { tenant: "other", principal: "alice" }];
    const getOutcome = async (promise: Promise<unknown>): Promise<string> =>
      promise.then(
        () => "something",
        (error: A2AError) => `${error.reason} ${error.message}`,
      );
    for (const stranger of strangers) {
      for (const task of [id, "00000000-0000-4000-8000-000000000000"]) {
        const expected = `TASK_NOT_FOUND ${A2AError.taskNotFound(task).message}`;
        expect(await getOutcome(engine.getTask({ id: task }, stranger))).toBe(expected);
        expect(await getOutcome(engine.cancelTask({ id: task }, stranger))).toBe(expected);
        expect(await getOutcome(engine.subscribeToTask({ id: task }, stranger))).toBe(expected);
        expect(await getOutcome(engine.subscribeToTask({ id: task }, stranger, { resumeAfterSeq: 1 }))).toBe(
          expected,
        );
        expect(
          await getOutcome(engine.sendMessage(createTestSendMessageRequest("x", { taskId: task }), stranger)),
        ).toBe(expected);
        expect(
          await getOutcome(
            engine.sendStreamingMessage(createTestSendMessageRequest("x", { taskId: task }), stranger),
          ),
        ).toBe(expected);
      }
      expect(await engine.listTasks({}, stranger)).toMatchObject({ tasks: [], totalSize: 0 });
    }
    expect((await engine.listTasks({}, alice)).totalSize).toBe(1);
  });

  it("keeps contexts of the same name apart [E13, M-04]", async () => {
    const { engine, agent } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi", { contextId: "shared" }), alice);
    (await agent.waitForRun(0)).end();
    await answer;
    expect((await engine.listTasks({ contextId: "shared" }, bob)).totalSize).toBe(0);
  });
});

describe("limits [E14]", () => {
  it("reject an excess run, in total and per caller, and accept it later", async () => {
    const { engine, agent } = createEngineFixture({ limits: { runs: 3, runsPerCaller: 2 } });
    const running = [1, 2].map(() => engine.sendMessage(createTestSendMessageRequest("hi"), alice));
    await flushEventLoopForTest();
    expect(
      await getRejectionA2AErrorReasonForTest(engine.sendMessage(createTestSendMessageRequest("hi"), alice)),
    ).toBe("RESOURCE_EXHAUSTED");
    running.push(engine.sendMessage(createTestSendMessageRequest("hi"), bob));
    await flushEventLoopForTest();
    const refused = engine.sendMessage(createTestSendMessageRequest("hi"), {
      tenant: "",
      principal: "carol",
    });
    await expect(refused).rejects.toMatchObject({ reason: "RESOURCE_EXHAUSTED", retryAfter: 1 });
    for (const run of agent.runs) run.end();
    await Promise.all(running);
    const again = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(3)).end();
    expect(getTestResponseTask(await again).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("reject an excess stream and release its slot", async () => {
    const { engine, agent } = createEngineFixture({ limits: { streams: 1 } });
    const stream = await engine.sendStreamingMessage(createTestSendMessageRequest("hi"), alice);
    const { taskId } = (await agent.waitForRun(0)).run;
    expect(await getRejectionA2AErrorReasonForTest(engine.subscribeToTask({ id: taskId }, alice))).toBe(
      "RESOURCE_EXHAUSTED",
    );
    stream.close();
    (await engine.subscribeToTask({ id: taskId }, alice)).close();
    await expect(engine.subscribeToTask({ id: "nope" }, alice)).rejects.toThrow();
    (await engine.subscribeToTask({ id: taskId }, alice)).close();
  });

  it("pause the agent while the store is behind [E6]", async () => {
    const store = new MemoryStore();
    const commit = store.commit.bind(store);
    const gate = Promise.withResolvers<void>();
    store.commit = async (batch) => {
      await gate.promise;
      return commit(batch);
    };
    const { engine, agent } = createEngineFixture({ store, mergeChunks: false });
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    for (let at = 0; at < 2000; at++) run.emit(createTestChunkEvent("x", at > 0));
    run.end();
    await flushEventLoopForTest();
    expect(run.pulledCount).toBeLessThan(600);
    gate.resolve();
    expect(getText(getTestResponseTask(await answer).artifacts?.[0]?.parts ?? [])).toHaveLength(2000);
  });
});

describe("time [E16]", () => {
  it("never decreases within a task, and is UTC with milliseconds [G-09]", async () => {
    const { engine, agent, clock } = createEngineFixture();
    const stream = engine.sendStreamingMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    clock.advance(5000);
    run.emit(workingTestEvent);
    await flushEventLoopForTest();
    clock.time -= 60_000;
    run.emit({ status: { state: "TASK_STATE_WORKING", message: { parts: [{ text: "on it" }] } } }).end();
    const times = (await collectSubscriptionEventsForTest(await stream)).map(({ event }) =>
      "task" in event
        ? event.task.status.timestamp
        : "statusUpdate" in event
          ? event.statusUpdate.status.timestamp
          : "",
    );
    expect(times).toEqual(["2026-01-01T00:00:00.000Z", ...Array(3).fill("2026-01-01T00:00:05.000Z")]);
  });
});

describe("an engine that opens the store of an earlier one", () => {
  it("fails orphaned tasks with a reason and keeps tasks that wait for input [E9]", async () => {
    const store = new MemoryStore();
    const before = createEngineFixture({ store });
    void before.engine.sendMessage(createTestSendMessageRequest("hi"), alice).catch(() => {});
    const run = await before.agent.waitForRun(0);
    run.emit(workingTestEvent, createTestChunkEvent("half", false));
    const waiting = before.engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await before.agent.waitForRun(1)).emit(inputRequiredTestEvent).end();
    const { id } = getTestResponseTask(await waiting);
    await flushEventLoopForTest();
    const { engine } = createProcessFixture({ store });
    await engine.open();
    const orphan = await engine.getTask({ id: run.run.taskId }, alice);
    expect(orphan.status.state).toBe("TASK_STATE_FAILED");
    expect(getText(orphan.status.message?.parts ?? [])).toContain(
      "The server stopped while the agent was running",
    );
    expect(getText(orphan.artifacts?.[0]?.parts ?? [])).toBe("half");
    expect((await engine.getTask({ id }, alice)).status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    // Events of the earlier writer are rejected from now on, and its waiting requests fail.
    const late = before.engine.subscribeToTask({ id: run.run.taskId }, alice);
    run.emit(createTestChunkEvent("late"));
    await expect(collectSubscriptionEventsForTest(await late)).rejects.toMatchObject({
      reason: "UNAVAILABLE",
    });
    expect(await store.load(createTestTaskScopeForCaller(alice), run.run.taskId)).toMatchObject({
      task: orphan,
    });
  });
});

describe("a store that fails", () => {
  it("is retried, and no event is lost when it recovers [E1]", async () => {
    const store = new MemoryStore();
    const clock = new FakeClock();
    const commit = store.commit.bind(store);
    let failures = 3;
    store.commit = (batch) => (failures-- > 0 ? Promise.reject(new Error("disk full")) : commit(batch));
    const { engine, agent } = createEngineFixture({ store, clock });
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(0)).emit(createTestChunkEvent("x", false)).end();
    for (let at = 0; at < 10; at++) {
      await flushEventLoopForTest(5);
      clock.advance(5000);
    }
    expect(getText(getTestResponseTask(await answer).artifacts?.[0]?.parts ?? [])).toBe("x");
  });

  it("permanently ends the run and rejects all waiting requests", async () => {
    const store = new MemoryStore();
    const clock = new FakeClock();
    const commit = store.commit.bind(store);
    let broken = false;
    store.commit = (batch) => (broken ? Promise.reject(new Error("disk full")) : commit(batch));
    const { engine, agent, errors } = createEngineFixture({ store, clock });
    const stream = await engine.sendStreamingMessage(createTestSendMessageRequest("hi"), alice);
    const reader = collectSubscriptionEventsForTest(stream);
    const run = await agent.waitForRun(0);
    await flushEventLoopForTest();
    broken = true;
    run.emit(workingTestEvent);
    const outcome = getRejectionA2AErrorReasonForTest(reader);
    for (let at = 0; at < 10; at++) {
      await flushEventLoopForTest(5);
      clock.advance(5000);
    }
    expect(await outcome).toBe("UNAVAILABLE");
    expect(run.run.signal.aborted).toBe(true);
    expect(errors).toHaveLength(1);
    // A failure of one task does not affect another.
    broken = false;
    const next = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(1)).end();
    expect(getTestResponseTask(await next).status.state).toBe("TASK_STATE_COMPLETED");
  });
});

describe("close", () => {
  it("ends running tasks with a reason and rejects new messages", async () => {
    const { engine, agent } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    run.emit(workingTestEvent);
    await flushEventLoopForTest();
    run.run.signal.addEventListener("abort", () => run.end());
    await engine.close(1000);
    const { status } = getTestResponseTask(await answer);
    expect(status.state).toBe("TASK_STATE_FAILED");
    expect(getText(status.message?.parts ?? [])).toContain("server was stopped");
    expect(
      await getRejectionA2AErrorReasonForTest(engine.sendMessage(createTestSendMessageRequest("hi"), alice)),
    ).toBe("UNAVAILABLE");
  });

  it("rejects messages that wait for the store when the server closes, and starts no agent for them", async () => {
    const lookup = new Deferred();
    class SlowLookupStore extends MemoryStore {
      override async findMessage(
        ...args: Parameters<MemoryStore["findMessage"]>
      ): Promise<Awaited<ReturnType<MemoryStore["findMessage"]>>> {
        await lookup.promise;
        return await super.findMessage(...args);
      }
    }
    const { engine, agent } = createEngineFixture({ store: new SlowLookupStore() });
    const answer = getRejectionA2AErrorReasonForTest(
      engine.sendMessage(
        createTestSendMessageRequest("hi", { configuration: { returnImmediately: true } }),
        alice,
      ),
    );
    await engine.close(1000);
    lookup.resolve();
    expect(await answer).toBe("UNAVAILABLE");
    expect(agent.runs).toEqual([]);
  });
});
